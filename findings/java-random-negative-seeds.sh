#!/bin/sh
# java-random of npm plays another game than Java's `Random` for negative seeds, which half of Java's seeds are.
#
# The package promises the sequences of `java.util.Random`, and keeps that promise for the seeds from 0 up: tests with the seed
# 42 pass. It splits the seed into words by dividing and dropping the fraction, which rounds a negative number up instead of
# down, so its upper words are one too high. Java programs take seeds from `nextLong()` or from the `hashCode()` of a name, and
# half of those are negative. Nothing warns. java-util-random of npm has the numbers of Java here.
#
# java-random 0.4.0, java-util-random 1.0.2, the numbers of Java checked with OpenJDK: `new Random(-1).nextInt()` is 1155099827.
# Exits with 1 once that changes. Needs node and npm; compares with the local Java where there is one.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund java-random@0.4.0 java-util-random@1.0.2
cat > roll.cjs <<'JS'
const JavaRandom = require("java-random");
const JavaUtilRandom = require("java-util-random").default;

for (const [name, Class] of [["java-random", JavaRandom], ["java-util-random", JavaUtilRandom]]) {
	for (const seed of [42, -1]) {
		const random = new Class(seed);
		console.log(name, seed, random.nextInt(), ...Array.from({ length: 5 }, () => random.nextInt(6) + 1));
	}
}
JS
cat > Roll.java <<'JAVA'
import java.util.Random;

class Roll {
    public static void main(String[] args) {
        for (long seed : new long[] {42, -1}) {
            Random random = new Random(seed);
            StringBuilder line = new StringBuilder("Java " + seed + " " + random.nextInt());
            for (int i = 0; i < 5; i++) line.append(" ").append(random.nextInt(6) + 1);
            System.out.println(line);
        }
    }
}
JAVA
if command -v java >/dev/null && java Roll.java > java.out 2>/dev/null; then
    cat java.out
    grep -q '^Java -1 1155099827 ' java.out
fi
node roll.cjs | tee seen
[ "$(grep ' 42 ' seen | cut -d' ' -f2- | sort -u | wc -l)" = 1 ]
grep -q '^java-util-random -1 1155099827 ' seen
grep -q '^java-random -1 141965336 ' seen
