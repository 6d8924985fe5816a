package engine

import "strconv"

// spot is where in a conversation something stands. Its path is made when somebody is
// told of it, since most parts of a long history are never spoken of.
type spot struct {
	message int
	list    string // the member of the message
	part    int    // of the list; -1 for all of it
}

// contentSpot is part j of the content of message i, or all of it for -1.
func contentSpot(i, j int) spot { return spot{i, "content", j} }

// path returns the path of a member of what is there, or of that itself for none.
func (s spot) path(member string) string {
	list := s.list
	if s.part >= 0 {
		list += "[" + strconv.Itoa(s.part) + "]"
	}
	return below(messagePath(s.message, list), member)
}

func messagePath(i int, member string) string {
	return below("messages["+strconv.Itoa(i)+"]", member)
}

func partPath(i, j int, member string) string { return contentSpot(i, j).path(member) }

// below returns the path of a member of what is at path, or path itself for
// none.
func below(path, member string) string {
	if member == "" {
		return path
	}
	return path + "." + member
}
