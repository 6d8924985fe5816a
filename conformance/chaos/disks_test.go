package chaos_test

const (
	diskChild = "CHAOS_DISK"
	diskPath  = "CHAOS_DISK_PATH"
)

var disks = map[string]func(path string) int{}
