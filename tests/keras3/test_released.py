"""The released function is there for comparison, and changes nothing."""
import keras_clone
from keras.models import clone_model
from keras.src.api_export import get_symbol_from_name


def test_running_the_released_module_keeps_what_the_public_name_leads_to():
    released = keras_clone.released('keras.src.models.cloning').clone_model
    assert released is not clone_model
    assert get_symbol_from_name('keras.models.clone_model') is clone_model
