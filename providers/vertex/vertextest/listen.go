package vertextest

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// errClosed is what a closed server answers through Start and Transport.
var errClosed = errors.New("vertextest: server closed")

// listening is a server on a socket.
type listening struct {
	url  string
	http *http.Server
	done chan struct{} // closed when the accept loop has ended
}

// Start listens on a free port of 127.0.0.1 and returns the base URL, which has
// no trailing slash. A second call returns the same URL. Close ends it.
func (s *Server) Start() (baseURL string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	if s.listening != nil {
		return s.listening.url, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.listening = &listening{
		url:  "http://" + l.Addr().String(),
		http: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute},
		done: make(chan struct{}),
	}
	go serve(s.listening, l)
	return s.listening.url, nil
}

// serve accepts until the server is closed, which is the only way it ends.
func serve(on *listening, l net.Listener) {
	defer close(on.done)
	_ = on.http.Serve(l)
}

// Close ends requests in flight and stops listening. Requests through the
// transport fail from then on. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	on := s.listening
	s.listening = nil
	for f := range s.inFlight {
		f.cancel()
	}
	s.mu.Unlock()
	if on != nil {
		_ = on.http.Close()
		<-on.done
	}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
