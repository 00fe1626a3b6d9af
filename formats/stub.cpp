namespace ttcheck::formats {}
