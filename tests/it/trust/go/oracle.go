// Checks files of turnfold with golang.org/x/mod, which no one here wrote. Prints `ok`, or what it refuses.
package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if err := check(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func check(kind, vkey, file string, rest []string) error {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(bytes)
	switch kind {
	case "note":
		_, err := open(vkey, text)
		return err
	case "inclusion":
		return inclusion(vkey, text)
	case "consistency":
		return consistency(vkey, text, rest[0])
	case "bundle":
		return bundle(vkey, text)
	}
	return errors.New("unknown kind")
}

// open checks a signed checkpoint and returns its tree.
func open(vkey, text string) (tlog.Tree, error) {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return tlog.Tree{}, err
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() || len(opened.Sigs) != 1 {
		return tlog.Tree{}, errors.New("no checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// proof splits a file into its own lines and the checkpoint below them.
func proof(vkey, text string) ([]string, tlog.Tree, error) {
	head, below, found := strings.Cut(text, "\n\n")
	if !found {
		return nil, tlog.Tree{}, errors.New("no checkpoint")
	}
	tree, err := open(vkey, below)
	return strings.Split(head, "\n"), tree, err
}

func hashes(lines []string) ([]tlog.Hash, error) {
	var parsed []tlog.Hash
	for _, line := range lines {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, hash)
	}
	return parsed, nil
}

func inclusion(vkey, text string) error {
	lines, tree, err := proof(vkey, text)
	if err != nil {
		return err
	}
	if lines[0] != "c2sp.org/tlog-proof@v1" {
		return errors.New("no proof")
	}
	record, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil {
		return err
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil {
		return err
	}
	path, err := hashes(lines[3:])
	if err != nil {
		return err
	}
	return tlog.CheckRecord(path, tree.N, tree.Hash, index, tlog.RecordHash(record))
}

func consistency(vkey, text, oldRoot string) error {
	lines, tree, err := proof(vkey, text)
	if err != nil {
		return err
	}
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	if err != nil {
		return err
	}
	path, err := hashes(lines[1:])
	if err != nil {
		return err
	}
	root, err := tlog.ParseHash(oldRoot)
	if err != nil {
		return err
	}
	return tlog.CheckTree(path, tree.N, tree.Hash, old, root)
}

// bundle computes the tree of a bundle's first line from its records, and compares it with the checkpoint.
func bundle(vkey, text string) error {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, stored[index])
		}
		return found, nil
	})
	var size int64
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "+") {
			if size > 0 {
				break
			}
			continue
		}
		bytes, err := base64.StdEncoding.DecodeString(lines.Text()[1:])
		if err != nil {
			return err
		}
		added, err := tlog.StoredHashes(size, bytes, read)
		if err != nil {
			return err
		}
		stored = append(stored, added...)
		size++
	}
	root, err := tlog.TreeHash(size, read)
	if err != nil {
		return err
	}
	_, checkpoint, found := strings.Cut(text, "\n-- checkpoint ")
	if !found {
		return errors.New("no checkpoint")
	}
	length, rest, _ := strings.Cut(checkpoint, "\n")
	bytes, err := strconv.Atoi(length)
	if err != nil {
		return err
	}
	tree, err := open(vkey, rest[:bytes])
	if err != nil {
		return err
	}
	if tree.N != size || tree.Hash != root {
		return errors.New("the checkpoint is of another tree")
	}
	return nil
}
