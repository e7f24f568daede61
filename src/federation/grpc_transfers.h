// The wire's transfers at the coordinator: bytes going out and coming in, a chunk at a time.
#pragma once

#include <grpcpp/grpcpp.h>

#include "federation.grpc.pb.h"
#include "federation/grpc_calls.h"

namespace kindred {

// gRPC owns what they return, which ends by itself. `calls` must outlive it.
grpc::ServerWriteReactor<v1::Chunk>* StartDownload(GrpcCalls& calls,
                                                   grpc::CallbackServerContext* context,
                                                   const v1::DownloadRequest& request);
grpc::ServerReadReactor<v1::UploadPart>* StartUpload(GrpcCalls& calls,
                                                     grpc::CallbackServerContext* context,
                                                     v1::UploadReply* reply);

}  // namespace kindred
