namespace ttcheck {}
