# An answer of --json with a value a line, so that a change of it can be read; a list of short ones is one.
# Numbers are what arithmetic makes of them: jq 1.7 keeps how others are spelled, 1.6 does not.
walk(if type == "number" then . + 0 else . end) |
walk(if type == "array" and all(.[]; type != "object" and type != "array" and (tostring | length < 30))
     then tojson | gsub("\""; "") else . end)
