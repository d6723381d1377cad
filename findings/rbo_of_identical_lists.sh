#!/usr/bin/env bash
# Versions: rbo 0.1.3.
# Expectation: rbo(p=0.9) of a list with itself is 1, as rbo() without p is and as any similarity
# is.
# Behavior: Given p, the sum stops at the end of the lists and the tail counts as no overlap:
# three equal items give .271, ten .651. Longer lists look more alike than shorter equal ones.
# Only ext=True or rbo_ext reaches 1, and there "ab" against "abcdef" is 1.0 too.
# Output seen:
#   equal lists of 3: 1.0 with p=0.9: 0.271 extrapolated: 1.0
#   equal lists of 10: 0.6513 lists of 10 that differ: 0.5334
#   rbo_ext of ab and abcdef: 1.0
# Who is hurt: Whoever measures how much two rankers or two seeds agree over queries with lists of
# unlike length: the number follows the length of the list, and a threshold marks equal short
# lists as different.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'rbo==0.1.3' 'numpy==1.26.4'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
from rbo import RankingSimilarity

def pair(a, b, **options):
    return round(float(RankingSimilarity(list(a), list(b)).rbo(**options)), 4)

same3, same10 = pair("abc", "abc", p=0.9), pair("abcdefghij", "abcdefghij", p=0.9)
swapped10 = pair("abcdefghij", "bacdfeghji", p=0.9)
extended = pair("abc", "abc", p=0.9, ext=True)
print("equal lists of 3:", pair("abc", "abc"), "with p=0.9:", same3, "extrapolated:", extended)
print("equal lists of 10:", same10, "lists of 10 that differ:", swapped10)
prefix = round(float(RankingSimilarity(list("ab"), list("abcdef")).rbo_ext(p=0.9)), 4)
print("rbo_ext of ab and abcdef:", prefix)
assert pair("abc", "abc") == extended == 1.0
assert same3 == 0.271 and same3 < swapped10 < same10 < 0.66
assert prefix == 1.0
PY
