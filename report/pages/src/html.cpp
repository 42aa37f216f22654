// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"

namespace dpsosp::report {
namespace {

void append_escaped(std::string& out, std::string_view plain) {
  for (const char c : plain) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
}

void append_start(std::string& out, std::string_view name, const Attributes& attributes) {
  out += '<';
  out += name;
  for (const auto& [key, value] : attributes) {
    out += ' ';
    out += key;
    out += "=\"";
    append_escaped(out, value);
    out += '"';
  }
}

}  // namespace

Html trusted(std::string html) { return Html(std::move(html)); }

Html text(std::string_view plain) {
  std::string out;
  append_escaped(out, plain);
  return trusted(std::move(out));
}

Html element(std::string_view name, const Attributes& attributes, const Html& content) {
  std::string out;
  append_start(out, name, attributes);
  out += '>';
  out += content.str();
  out += "</";
  out += name;
  out += '>';
  return trusted(std::move(out));
}

Html empty_element(std::string_view name, const Attributes& attributes) {
  std::string out;
  append_start(out, name, attributes);
  out += "/>";
  return trusted(std::move(out));
}

Html void_element(std::string_view name, const Attributes& attributes) {
  std::string out;
  append_start(out, name, attributes);
  out += '>';
  return trusted(std::move(out));
}

}  // namespace dpsosp::report
