// A client's update as it travels.
#pragma once

#include "client/round.h"
#include "wire/upload_header.h"

namespace kindred {

// Takes what may leave a client, and nothing else.
PackedUpdate PackUpdate(const Update& update, const UploadShape& shape);

}  // namespace kindred
