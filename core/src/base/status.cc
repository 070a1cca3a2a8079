#include "keepsake/status.h"

namespace keepsake {

struct Status::Failure {
  StatusCode code;
  std::string message;
};

Status::Status(StatusCode code, std::string_view message)
    : failure_(code == StatusCode::kOk ? nullptr : new Failure{code, std::string(message)}) {}

Status::Status(const Status& other)
    : failure_(other.ok() ? nullptr : new Failure(*other.failure_)) {}

void Status::Forget(const Failure* failure) { delete failure; }

StatusCode Status::code() const { return ok() ? StatusCode::kOk : failure_->code; }

const std::string& Status::message() const {
  static const std::string none;
  return ok() ? none : failure_->message;
}

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid_argument";
    case StatusCode::kInvalidNamespace:
      return "invalid_namespace";
    case StatusCode::kInvalidKey:
      return "invalid_key";
    case StatusCode::kInvalidValue:
      return "invalid_value";
    case StatusCode::kInvalidFilter:
      return "invalid_filter";
    case StatusCode::kInvalidOperation:
      return "invalid_operation";
    case StatusCode::kDimensionMismatch:
      return "dimension_mismatch";
    case StatusCode::kThreadIdRequired:
      return "thread_id_required";
    case StatusCode::kNotFound:
      return "not_found";
    case StatusCode::kMalformedFrame:
      return "malformed_frame";
    case StatusCode::kConflictingOptions:
      return "conflicting_options";
    case StatusCode::kBusy:
      return "busy";
    case StatusCode::kForeignFile:
      return "foreign_file";
    case StatusCode::kNotADatabase:
      return "not_a_database";
    case StatusCode::kNewerSchema:
      return "newer_schema";
    case StatusCode::kStorageFull:
      return "storage_full";
    case StatusCode::kReadOnly:
      return "read_only";
    case StatusCode::kCorrupt:
      return "corrupt";
    case StatusCode::kIoError:
      return "io_error";
    case StatusCode::kChangedOutside:
      return "changed_outside";
    case StatusCode::kCannotOpen:
      return "cannot_open";
    case StatusCode::kClosed:
      return "closed";
    case StatusCode::kLost:
      return "lost";
    case StatusCode::kTooLarge:
      return "too_large";
    case StatusCode::kAccessDenied:
      return "access_denied";
    case StatusCode::kQuotaExceeded:
      return "quota_exceeded";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kInternal:
      return "internal";
    case StatusCode::kModelMismatch:
      return "model_mismatch";
    case StatusCode::kHeld:
      return "held";
    case StatusCode::kIndexing:
      return "indexing";
    case StatusCode::kKeyRequired:
      return "key_required";
    case StatusCode::kWrongKey:
      return "wrong_key";
    case StatusCode::kNoHistory:
      return "no_history";
    case StatusCode::kChangedSince:
      return "changed_since";
    case StatusCode::kSecretFound:
      return "secret_found";
  }
  return "internal";
}

}  // namespace keepsake
