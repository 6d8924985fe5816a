package vertextest

import (
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// vectorOf makes a vector of features, of unit length: texts that share words and
// pieces of words have vectors that are close. Each feature adds to some elements,
// spread over all of them, so that the beginning of a vector is one too.
func vectorOf(features map[string]float64, dims int) []float64 {
	const each = 24 // elements that a feature adds to
	vector := make([]float64, dims)
	for feature, weight := range features {
		state := hashOf(feature)
		for range each {
			state = mix(state)
			sign := weight
			if state>>63 == 1 {
				sign = -weight
			}
			vector[state%uint64(dims)] += sign
		}
	}
	seed := hashOf("base")
	for i := range vector { // no element is 0, as none is on the platform
		seed = mix(seed)
		vector[i] += 1e-3 * (float64(seed>>11)/(1<<53) - 0.5)
	}
	return unit(vector)
}

// unit scales a vector to length 1 and rounds its elements to 32 bits.
func unit(vector []float64) []float64 {
	var sum float64
	for _, f := range vector {
		sum += f * f
	}
	for i := range vector {
		vector[i] = float64(float32(vector[i] / math.Sqrt(sum)))
	}
	return vector
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// mix is a step of splitmix64.
//
// Source: https://prng.di.unimi.it/splitmix64.c
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// smallWords say little about what a text is about: politeness, articles, pronouns
// and auxiliaries of a few languages. Texts that differ in nothing else come out
// close to each other, as they do on the platform.
const smallWords = " a an the cannot i me my we our you your it its this that these those there is are am was were be been do does did can could would will shall should may " +
	"what which who how to of in on at for with from by and or so please kindly thanks thank hi hello hey tell know want like need s t m re ve ll d " +
	"der die das ein eine ich mein meine wie was ist kann bitte le la les un une je mon ma est puis comment el los una mi es puedo cómo por favor "

// smallWeight is what the features of small words count, of 1.
const smallWeight = 0.1

// textFeatures are the words of a text and their pieces of three characters,
// without case. Words count most; a little comes from what they are for. Letters
// of scripts without spaces are words, and their pieces have two.
func textFeatures(text, task string) map[string]float64 {
	features := map[string]float64{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		weight, length := 1.0, 3
		if strings.Contains(smallWords, " "+word+" ") {
			weight = smallWeight
		}
		padded := []rune(" " + word + " ")
		if unicode.In(padded[1], unicode.Han, unicode.Hiragana, unicode.Katakana) {
			length = 2
			for _, r := range word {
				features["w:"+string(r)] += 2
			}
		} else {
			features["w:"+word] += 2 * weight
		}
		for i := 0; i+length <= len(padded); i++ {
			features["t:"+string(padded[i:i+length])] += weight
		}
	}
	if len(features) == 0 {
		features["raw:"+text] = 1
	}
	if task != "" {
		features["task:"+task] = 0.5
	}
	return features
}

// taskOf takes the instruction off a text that has one before it.
func taskOf(text string) (task, rest string) {
	for _, form := range [][3]string{{"task: ", " | query: ", ""}, {"title: ", " | text: ", "document"}} {
		after, ok := strings.CutPrefix(text, form[0])
		if !ok {
			continue
		}
		if head, rest, ok := strings.Cut(after, form[1]); ok {
			if form[2] == "" {
				return head, rest
			}
			return form[2], strings.TrimPrefix(head, "none") + " " + rest
		}
	}
	return "", text
}

// floatList is a vector in JSON: each float of 32 bits in its shortest form, or
// with the digits that the same number has as a float of 64.
type floatList struct {
	values  []float64
	widened bool
}

// MarshalJSON writes the numbers.
func (l floatList) MarshalJSON() ([]byte, error) {
	bits := 32
	if l.widened {
		bits = 64
	}
	out := []byte{'['}
	for i, f := range l.values {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, f, 'g', -1, bits)
	}
	return append(out, ']'), nil
}
