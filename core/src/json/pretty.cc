#include <algorithm>

#include "json/json.h"

namespace keepsake::json {
namespace {

class Printer {
 public:
  Printer(std::string_view raw, std::size_t max_bytes) : text_(raw), max_bytes_(max_bytes) {}

  std::optional<std::string> Run() {
    while (at_ < text_.size()) {
      Step();
      if (out_.size() > max_bytes_) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    switch (c) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        ++at_;
        break;
      case '"':
        CopyString();
        break;
      case '{':
      case '[':
        Open(c);
        break;
      case '}':
      case ']':
        if (depth_ > 0) --depth_;
        NewLine();
        Copy();
        break;
      case ',':
        Copy();
        NewLine();
        break;
      case ':':
        Copy();
        out_ += ' ';
        break;
      default:
        Copy();
    }
  }

  void Copy() { out_ += text_[at_++]; }

  void CopyString() {
    Copy();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) Copy();
      Copy();
    }
    if (at_ < text_.size()) Copy();
  }

  void Open(char opening) {
    Copy();
    at_ = std::min(text_.find_first_not_of(" \n\r\t", at_), text_.size());
    const char closing = opening == '{' ? '}' : ']';
    if (at_ < text_.size() && text_[at_] == closing) return Copy();
    ++depth_;
    NewLine();
  }

  void NewLine() {
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  std::string_view text_;
  std::size_t max_bytes_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::optional<std::string> Pretty(std::string_view raw, std::size_t max_bytes) {
  return Printer(raw, max_bytes).Run();
}

}  // namespace keepsake::json
