package jsonx

// SharedString returns b as a string without copying. b must never change as long
// as the string, or any part of it, is in use.
func SharedString(b []byte) string { return stringView(b) }
