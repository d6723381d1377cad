"""Real grades beside rounded ones: three judges and a model's scores, drawn around the grades of MQ2007."""
