//===- Print.cpp - The canonical form of a spec ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Names.h"

#include <charconv>

using namespace kvc::spec;

/// Shortest spelling that reads back to `value`, and as a float.
template <typename T>
static std::string spelled(T value) {
  char buffer[40];
  std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string out(buffer, result.ptr);
  if (out.find_first_of(".e") == std::string::npos)
    out += ".0";
  return out;
}

/// A table's entry is read as f64 and then rounded; the short spelling of the
/// f32 is used where that leads back to it.
static std::string spelledEntry(float value) {
  std::string shortest = spelled(value);
  double back = 0;
  std::from_chars(shortest.data(), shortest.data() + shortest.size(), back);
  return static_cast<float>(back) == value
             ? shortest
             : spelled(static_cast<double>(value));
}

static std::string spelled(std::string_view text) {
  static const char *digits = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

static std::string spelledRange(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + "]";
}

namespace {

/// Emits nested objects, indented or on one line. Lists of numbers stay on one
/// line in both.
class Writer {
public:
  explicit Writer(bool indented) : indented(indented) {}

  void open(char bracket) {
    out += bracket;
    ++depth;
    first = true;
  }
  void close(char bracket) {
    --depth;
    if (!first && indented)
      newline();
    out += bracket;
    first = false;
  }
  /// Starts the next item of a list.
  void item() {
    if (!first)
      out += indented ? "," : ", ";
    if (indented)
      newline();
    first = false;
  }
  /// Starts the next member of an object.
  void key(std::string_view name) {
    item();
    out += '"';
    out += name;
    out += "\": ";
  }
  void raw(std::string_view text) { out += text; }

  void word(std::string_view name, std::string_view value) {
    key(name);
    out += spelled(value);
  }
  void integer(std::string_view name, int64_t value) {
    key(name);
    out += std::to_string(value);
  }
  void number(std::string_view name, double value) {
    key(name);
    out += spelled(value);
  }
  /// A boolean that is false by default.
  void flag(std::string_view name, bool value) {
    if (value) {
      key(name);
      out += "true";
    }
  }

  std::string out;

private:
  void newline() {
    out += '\n';
    out.append(2 * depth, ' ');
  }

  bool indented;
  bool first = true;
  size_t depth = 0;
};

} // namespace

static void print(Writer &w, const Attention &attention) {
  w.open('{');
  w.integer("q_heads", attention.qHeads);
  w.integer("kv_heads", attention.kvHeads);
  w.integer("head_dim", attention.headDim);
  if (!attention.valueIsKey && attention.valueDim != attention.headDim)
    w.integer("value_dim", attention.valueDim);
  if (attention.scale != attention.defaultScale())
    w.number("scale", attention.scale);
  if (!attention.causal)
    w.word("mask", nameIn(kMaskNames, attention.causal));
  if (attention.window)
    w.integer("window", *attention.window);
  if (attention.windowSinks != 0)
    w.integer("window_sinks", attention.windowSinks);
  if (attention.softcap)
    w.number("softcap", *attention.softcap);
  w.flag("alibi", attention.alibi);
  w.flag("sink_logits", attention.sinkLogits);
  if (attention.valueIsKey) {
    auto [begin, end] = *attention.valueIsKey;
    w.key("value_is_key");
    w.raw(begin == 0 && end == attention.headDim ? "\"all\""
                                                 : spelledRange(begin, end));
  }
  w.close('}');
}

static void print(Writer &w, const IO &io) {
  w.open('{');
  w.word("query", nameOf(io.query));
  if (io.output != io.query)
    w.word("output", nameOf(io.output));
  w.close('}');
}

static void printCount(Writer &w, std::string_view name, int64_t value) {
  if (value == kAll)
    w.word(name, "all");
  else
    w.integer(name, value);
}

static void print(Writer &w, const Scale &scale) {
  w.open('{');
  printCount(w, "tokens", scale.tokens);
  printCount(w, "channels", scale.channels);
  w.word("dtype", nameOf(scale.dtype));
  w.flag("static", scale.isStatic);
  if (scale.round == ScaleRound::Up)
    w.word("round", nameIn(kScaleRoundNames, scale.round));
  if (scale.floor)
    w.number("floor", *scale.floor);
  if (scale.global != 1)
    w.number("global", scale.global);
  w.close('}');
}

static void printMembers(Writer &w, const PartScheme &part) {
  w.word("codec", codecName(part.codec));
  if (part.codec.kind == CodecKind::Lut) {
    w.key("table");
    if (part.codec.table.empty()) {
      w.open('{');
      w.integer("bits", part.codec.bits);
      w.close('}');
    } else {
      std::string list;
      for (float entry : part.codec.table)
        list += (list.empty() ? "[" : ", ") + spelledEntry(entry);
      w.raw(list + "]");
    }
  }
  if (part.scale) {
    w.key("scale");
    print(w, *part.scale);
  }
  if (part.zero != Zero::None)
    w.word("zero", nameIn(kZeroNames, part.zero));
  if (part.clip != 1)
    w.number("clip", part.clip);
  if (part.estimate != Estimate::Amax)
    w.word("estimate", nameIn(kEstimateNames, part.estimate));
  if (part.codesFrom != CodesFrom::Stored)
    w.word("codes_from", nameIn(kCodesFromNames, part.codesFrom));
  if (part.round != Round::Even)
    w.word("round", nameIn(kRoundNames, part.round));
  if (part.rotate != 0)
    w.integer("rotate", part.rotate);
  w.flag("smooth", part.smooth);
  if (part.outliers != 0)
    w.integer("outliers", part.outliers);
}

static void print(Writer &w, const Rope &rope) {
  w.open('{');
  w.word("style", nameIn(kRopeStyleNames, rope.pairs));
  w.integer("dims", rope.dims);
  if (rope.offset != 0)
    w.integer("offset", rope.offset);
  if (rope.theta != Rope().theta)
    w.number("theta", rope.theta);
  w.close('}');
}

static void print(Writer &w, const Scheme &scheme) {
  w.open('{');
  if (scheme.explicitParts) {
    w.key("parts");
    w.open('[');
    for (const PartScheme &part : scheme.parts) {
      w.item();
      w.open('{');
      w.key("channels");
      w.raw(spelledRange(part.begin, part.end));
      printMembers(w, part);
      w.close('}');
    }
    w.close(']');
  } else {
    printMembers(w, scheme.parts.front());
  }
  if (scheme.rope) {
    w.key("rope");
    print(w, *scheme.rope);
  }
  w.close('}');
}

static void print(Writer &w, const Segments &segments) {
  w.open('{');
  if (segments.sink != 0)
    w.integer("sink", segments.sink);
  if (segments.recent != 0)
    w.integer("recent", segments.recent);
  w.close('}');
}

static void print(Writer &w, const Layout &layout) {
  w.open('{');
  if (layout.kind != LayoutKind::Contiguous)
    w.word("kind", nameIn(kLayoutKindNames, layout.kind));
  if (layout.kind == LayoutKind::Paged)
    w.integer("page", layout.page);
  if (layout.order != Order::Auto)
    w.word("order", nameIn(kOrderNames, layout.order));
  w.flag("interleaved", layout.interleaved);
  w.close('}');
}

static std::string print(const Spec &spec, bool indented) {
  Writer w(indented);
  w.open('{');
  w.integer("kvc", 1);
  if (!spec.name.empty())
    w.word("name", spec.name);
  w.key("attention");
  print(w, spec.attention);
  w.key("io");
  print(w, spec.io);
  w.key("key");
  print(w, spec.key);
  if (spec.value) {
    w.key("value");
    print(w, *spec.value);
  }
  if (spec.segments != Segments()) {
    w.key("segments");
    print(w, spec.segments);
  }
  if (spec.layout != Layout()) {
    w.key("layout");
    print(w, spec.layout);
  }
  w.close('}');
  return std::move(w.out);
}

std::string kvc::spec::printSpec(const Spec &spec) {
  return print(spec, /*indented=*/true) + "\n";
}

std::string kvc::spec::printSpecCompact(const Spec &spec) {
  return print(spec, /*indented=*/false);
}
