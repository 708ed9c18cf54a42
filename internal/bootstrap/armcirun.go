package bootstrap

import (
	"errors"

	"libarmci/internal/config"
)

func startArmcirun(s *config.Set) (Job, error) { return nil, errors.New("armcirun: not yet") }
