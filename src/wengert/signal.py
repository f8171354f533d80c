"""The names of `tf.signal`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.dct import dct, idct
from wengert.ops.fft import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)
from wengert.ops.frames import (
    frame,
    inverse_mdct,
    inverse_stft,
    mdct,
    mfccs_from_log_mel_spectrograms,
    overlap_and_add,
    stft,
)
from wengert.ops.windows import (
    hamming_window,
    hann_window,
    inverse_stft_window_fn,
    kaiser_bessel_derived_window,
    kaiser_window,
    linear_to_mel_weight_matrix,
    vorbis_window,
)

__getattr__, __dir__ = _namespace("tf.signal", globals())
