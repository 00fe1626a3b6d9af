# What holds for every answer of `diff`: true, or the list of what is broken.
def sum(f): [f] | add // 0;

.coverage as $c
| [ (if .exit == $code then empty else "exit \(.exit) in the object, \($code) of the process" end)
  , (if .exit | IN(0, 1, 2, 3) then empty else "exit \(.exit) is no sum of 1 and 2" end)
  , (if ((.complete | not) or .verdict == "not-comparable") == (.exit >= 2) then empty
     else "complete \(.complete), verdict \(.verdict), exit \(.exit)" end)
  , (if any(.findings[]; .severity == "error") == (.exit % 2 == 1) then empty
     else "errors in findings against exit \(.exit)" end)
  , (if .verdict == "diverged" and .exit % 2 == 0 then "diverged with exit \(.exit)" else empty end)
  , (if (.verdict | IN("equal", "noise")) and (.complete | not) then "\(.verdict), not complete"
     else empty end)
  , (if (.verdict | IN("equal", "noise")) and $c.paired == 0 then "\(.verdict) of nothing"
     else empty end)
  , (if $c.excluded == sum($c.excluded_by[]) then empty
     else "excluded \($c.excluded), by rule \(sum($c.excluded_by[]))" end)
  , (if .verdict == "diverged" and .first == null
        and all(.findings[]; .severity != "error" or (.code | IN("TT305", "TT306", "TT307") | not))
     then "diverged without a first" else empty end)
  , (.findings[] | select(.severity == "error" and .where == null and .tensor == null and .step == null)
     | "\(.code) names no place")
  ]
| if . == [] then true else (., false) end
