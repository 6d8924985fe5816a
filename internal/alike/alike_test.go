package alike_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/alike"
)

func TestReasonsOfConflicts(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       alike.Reason
	}{
		{"a negation", "Is it allowed?", "Is it not allowed?", alike.Polarity},
		{"a prefix", "refundable ticket", "nonrefundable ticket", alike.Polarity},
		{"opposites", "enable logging", "disable logging", alike.Polarity},
		{"a particle apart from its verb", "turn the radio on", "turn the radio off", alike.Polarity},
		{"what is denied", "use A but not B", "use B but not A", alike.Polarity},
		{"a number", "3 apples", "4 apples", alike.Number},
		{"a number in words", "three apples", "4 apples", alike.Number},
		{"trailing zeros of versions", "Python 3.1", "Python 3.10", alike.Number},
		{"the order of magnitude", "2 million users", "2 billion users", alike.Number},
		{"a currency", "5€", "$5", alike.Number},
		{"a number's sign", "-5 degrees", "5 degrees", alike.Number},
		{"mega and milli", "a 5M resistor", "a 5m resistor", alike.Identifier},
		{"half of the day", "at 3 am", "at 3 pm", alike.Number},
		{"a clock and a span", "remind me at 5", "remind me in 5", alike.Order},
		{"a name", "weather in Oslo", "weather in Bergen", alike.Entity},
		{"a name in lower case", "weather in paris", "weather in london", alike.Entity},
		{"the country and the pronoun", "a story about US", "a story about us", alike.Entity},
		{"a word", "bake bread", "bake cookies", alike.Term},
		{"a longer word with the same beginning", "car insurance", "care insurance", alike.Term},
		{"a path's case", "open /etc/Hosts", "open /etc/hosts", alike.Identifier},
		{"an operator", "x >= 5", "x <= 5", alike.Identifier},
		{"the inside of code", "run `a b`", "run `a  c`", alike.Identifier},
		{"quoted words that say little", `translate "the"`, `translate "a"`, alike.Identifier},
		{"a direction", "EUR to USD", "USD to EUR", alike.Order},
		{"a place and a direction", "flights to Oslo", "flights from Oslo", alike.Order},
		{"an owner", "is alice bob's boss", "is bob alice's boss", alike.Order},
		{"who did what", "who called alice", "who did alice call", alike.Order},
		{"names of variables", "is A a part of B", "is B a part of A", alike.Order},
		{"all and some", "all tests", "some tests", alike.Quantity},
		{"duty and permission", "must I pay", "may I pay", alike.Quantity},
		{"then and now", "was it open", "is it open", alike.Quantity},
		{"kinds of questions", "when is the game", "where is the game", alike.Question},
		{"a statement", "the door is closed", "is the door closed", alike.Question},
		{"the language asked for", "reply in French", "reply in German", alike.Language},
		{"the language spoken", "what is the server", "was ist der Server", alike.Language},
		{"greetings", "hello", "thanks", alike.Term},
		{"nothing", "", "hello", alike.Term},
		{"who asks whom", "who are you", "who am I", alike.Entity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				got, found := alike.Conflict(order[0], order[1])
				if diff := cmp.Diff(tt.want, got); diff != "" || !found {
					t.Errorf("%q, conflict %v (-want +got):\n%s", order, found, diff)
				}
			}
		})
	}
}

func TestTextsThatAgree(t *testing.T) {
	tests := []struct{ name, a, b string }{
		{"case and punctuation", "What is DNS?", "what is dns"},
		{"spaces", "what  is\tDNS", " what is DNS "},
		{"invisible letters", "what is D\u200bNS", "what is DNS"},
		{"politeness", "Hi, could you please tell me what DNS is? Thanks!", "What is DNS?"},
		{"contractions", "I don't know why it isn't open", "I do not know why it is not open"},
		{"curly apostrophes", "it isn’t open", "it isn't open"},
		{"numbers in words", "twenty-five apples", "25 apples"},
		{"thousands", "1,250,000 users", "1250000 users"},
		{"hundreds in words", "one hundred and five pages", "105 pages"},
		{"magnitudes", "$1.5 million", "1,500,000 dollars"},
		{"money", "$5.00", "5 USD"},
		{"percent", "20%", "twenty percent"},
		{"units", "5kg", "5 kilograms"},
		{"dates", "on 2024-05-03", "on May 3rd, 2024"},
		{"dates with the day first", "on 13/05/2024", "on 13 May 2024"},
		{"times", "at 3:30 pm", "at 15:30"},
		{"versions", "version 1.2.3", "v1.2.3"},
		{"ordinals", "the 2nd chapter", "the second chapter"},
		{"digits of other scripts", "١٢ apples", "12 apples"},
		{"wide letters", "ＤＮＳ", "dns"},
		{"hosts in capitals", "ping API.example.com", "ping api.example.com"},
		{"quotation marks around one word", "what is 'entropy'", "what is entropy"},
		{"plural", "do cats purr", "does a cat purr"},
		{"forms of verbs", "resetting passwords", "reset password"},
		{"doubled consonants", "planning trips", "plan a trip"},
		{"a phrase moved", "in Go, how do I sort", "how do I sort in Go"},
		{"both sides of and", "compare tea and coffee", "compare coffee and tea"},
		{"a possessor", "the car's oil", "the oil of the car"},
		{"what does not work", "my card does not work", "my card is not working"},
		{"an unknown language", "Miten vaihdan salasanan?", "miten vaihdan SALASANAN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				if got, found := alike.Conflict(order[0], order[1]); found {
					t.Errorf("%q: conflict of %s", order, got)
				}
			}
		})
	}
}
