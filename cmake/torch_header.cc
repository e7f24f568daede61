// Carries the precompiled header that the files using LibTorch share.
