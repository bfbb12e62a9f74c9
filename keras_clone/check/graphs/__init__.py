"""What the judge of a clone has to know about models and Keras, see `Graphs`."""
import keras

if hasattr(keras, 'KerasTensor'):
    from .keras3 import Keras3Graphs as GraphsOfInstalled
else:
    from .keras2 import Keras2Graphs as GraphsOfInstalled

graphs = GraphsOfInstalled()
