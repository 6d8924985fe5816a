package vertextest_test

import (
	"fmt"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Similarity caches are tried out with these vectors: what is said in nearly the
// same words must come out close, and nothing else.
func TestVectorsOfNearlyTheSameWords(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	tests := []struct {
		name, a, b  string
		least, most float64
	}{
		{"case and punctuation", "How do I reset my password?", "how do i reset my PASSWORD", 0.99, 1.01},
		{"politeness", "How do I reset my password?", "Hello, could you please tell me how to reset my password? Thanks!", 0.9, 1.01},
		{"small words", "What is the capital of France?", "what's the capital of France", 0.9, 1.01},
		{"a contraction", "I can't log in to my account", "I cannot log in to my account", 0.9, 1.01},
		{"a phrase moved", "In Python, how do I sort a list?", "How do I sort a list in Python?", 0.9, 1.01},
		{"another script", "如何重置我的登录密码", "如何重置我的登录密码？", 0.9, 1.01},
		{"a number in a long text", "Write a summary of the quarterly report for the board in 3 sentences", "Write a summary of the quarterly report for the board in 4 sentences", 0.9, 0.9999},
		{"another thing", "How do I reset my password?", "How do I cancel my subscription?", -1, 0.8},
		{"the same small words", "What is the weather in Paris today?", "What is the best way to learn Spanish?", -1, 0.8},
		{"nothing in common", "How do I reset my password?", "What is the capital of France?", -1, 0.8},
		{"nothing in common in another script", "如何重置密码", "中国的首都是哪里", -1, 0.8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := vectors(t, embedAt(t, s, text5, fmt.Sprintf(`{"instances":[{"content":%q},{"content":%q}]}`, tt.a, tt.b)))
			if c := cosine(got[0], got[1]); c < tt.least || c > tt.most {
				t.Errorf("cosine %v, want between %v and %v", c, tt.least, tt.most)
			}
		})
	}
}
