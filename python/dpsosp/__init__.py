# SPDX-License-Identifier: Apache-2.0
"""dpsosp from Python: write an algorithm (author), run experiments (experiments)."""
from .author import (ALL, Algorithm, Batch, Budget, BudgetExhausted, Curator, DataExhausted, Facts,
                     InputError, Noise, Outcome, Planned, Policy, Refused, Stream, UnsupportedError,
                     fresh, poisson, sample, serve)
from .experiments import (Failed, Figure, Problem, account, audit, calibrate, certify, check, figures, frame, info,
                          listed, program, run, slopes, sweep)

__all__ = ["ALL", "Algorithm", "Batch", "Budget", "BudgetExhausted", "Curator", "DataExhausted", "Facts",
           "Failed", "Figure", "InputError", "Noise", "Outcome", "Planned", "Policy", "Problem", "Refused", "Stream",
           "UnsupportedError", "account", "audit", "calibrate", "certify", "check", "figures", "frame", "fresh",
           "info", "listed", "poisson", "program", "run", "sample", "serve", "slopes", "sweep"]
__version__ = "1.0"
