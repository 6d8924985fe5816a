package supply_test

// reading is what a person read in a file that no program understands. It holds
// for the bytes of the file: another version is read again.
type reading struct {
	file, sum string // the module's path with the file's name, the SHA-256
	licences  []string
	why       string
}

var readings = []reading{
	{
		"modernc.org/libc/LICENSE-3RD-PARTY.md", "f597097efe3d97021f89170746bd3a0fb9a8b6fb26b82043ed68a4e0283bee6c",
		[]string{"BSD-2-Clause", "BSD-3-Clause", "MIT"},
		"notices of Go, musl, go-netdb and nixpkgs, with prose between them; musl says which of its parts are of two clauses of BSD",
	},
	{
		"modernc.org/memory/LICENSE-LOGO", "5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5",
		nil, "the address of a picture that is not linked",
	},
	{
		"modernc.org/sqlite/LICENSE-3RD-PARTY.md", "4194f8e7119be72babd499db4f6f1f7547e36e8a7bffcb2b9c8df241b8f1576a",
		[]string{"BSD-3-Clause", "LicenseRef-public-domain", "MIT"},
		"section 1 is what is linked; MPL-2.0 is of golang-lru, which section 3 names as in the module graph and in no build, as linked() finds too",
	},
	{
		"modernc.org/sqlite/LICENSE-SQLITE", "8438c9c89b849131ead81d5435cb97fcf052df5b0b286dda8a2d4c29e6cb3fd0",
		[]string{"LicenseRef-public-domain"}, "SQLite is in the public domain",
	},
}
