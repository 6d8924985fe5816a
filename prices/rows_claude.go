package prices

func claudeRows() []Row { return nil }
