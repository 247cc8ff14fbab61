#!/bin/sh
# jsonlite for R writes at most 15 digits of a number, also with `digits = NA`, which its manual calls "max precision".
#
# A double needs up to 17 digits. Whole numbers from 10^15 on, which doubles hold exactly up to 2^53, come out rounded: an id
# of 16 digits, such as a time in microseconds, is another one after a round trip through R. Nothing warns, and `I(17)`, which
# asks for 17 significant digits, changes nothing. R itself writes them: `sprintf("%.17g", x)`.
#
# jsonlite 1.8.4 of Debian, R 4.2.2: 1764211200123456 is written as 1.76421120012346e+15, and 0.1 + 0.2 as 0.3.
# Exits with 1 once that changes. Needs Debian with R (r-base-core); jsonlite is unpacked into a temporary folder.
set -eu
if ! command -v Rscript >/dev/null || ! command -v apt-get >/dev/null; then
    echo "SKIPPED: R or apt-get is not here"
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
if ! (cd "$dir" && apt-get download r-cran-jsonlite >/dev/null 2>&1); then
    echo "SKIPPED: r-cran-jsonlite cannot be downloaded here"
    exit 0
fi
dpkg -x "$dir"/r-cran-jsonlite_*.deb "$dir/root"
cat > "$dir/digits.R" <<'R'
library(jsonlite, lib.loc = file.path(commandArgs(TRUE)[1], "root/usr/lib/R/site-library"))
cat("jsonlite", as.character(packageVersion("jsonlite")), "\n")
id <- fromJSON("1764211200123456")
cat("R:", sprintf("%.17g", id), sprintf("%.17g", 0.1 + 0.2), "\n")
for (digits in list(NA, I(17), 22)) {
  cat("digits", format(digits), toJSON(id, auto_unbox = TRUE, digits = digits),
      toJSON(0.1 + 0.2, auto_unbox = TRUE, digits = digits), "\n")
}
cat("round trip:", fromJSON(toJSON(id, digits = NA)) == id, "\n")
R
Rscript "$dir/digits.R" "$dir" | tee "$dir/printed"
[ "$(grep -c '^digits .* 1.76421120012346e+15 0.3 $' "$dir/printed")" = 3 ]
grep -q '^R: 1764211200123456 0.30000000000000004 $' "$dir/printed"
grep -q '^round trip: FALSE $' "$dir/printed"
