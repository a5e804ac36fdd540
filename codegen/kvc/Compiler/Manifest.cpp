//===- Manifest.cpp - What a program must know of an artefact -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Compiler/Manifest.h"

#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/kernel_abi.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace kvc {

KernelSignature signatureOf(llvm::StringRef kernel, mlir::FunctionType type) {
  KernelSignature signature;
  signature.kernel = kernel.str();
  for (mlir::Type input : type.getInputs()) {
    KernelParameter parameter;
    parameter.offset = signature.bytes;
    llvm::raw_string_ostream stream(parameter.type);
    if (llvm::isa<CacheType>(input)) {
      stream << "!kvc.cache";
      signature.bytes += sizeof(kvc_cache_view);
    } else {
      input.print(stream);
      signature.bytes += 8;
      if (auto memref = llvm::dyn_cast<mlir::MemRefType>(input))
        signature.bytes +=
            8 * llvm::count_if(memref.getStridesAndOffset().first,
                               mlir::ShapedType::isDynamic);
    }
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
}

std::string compilerVersion() {
  return "kvc " KVC_VERSION ", LLVM " LLVM_VERSION_STRING;
}

std::string specHash(const KernelTable &table) {
  const std::string all =
      table.specJson + (table.score.empty() ? "" : "\n" + table.score);
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(all)),
                     /*LowerCase=*/true);
}

static void printKernel(llvm::json::OStream &json, const KernelEntry &kernel,
                        const std::vector<KernelSignature> &signatures) {
  json.attribute("name", kernel.name);
  json.attribute("tile_rows", kernel.tileRows);
  json.attribute("tile_tokens", kernel.tileTokens);
  json.attribute("split_tokens", kernel.splitTokens);
  json.attribute("operands", kernel.operands);
  json.attribute("workspace_bytes", kernel.workspaceBytes);
  if (kernel.threads != 0) {
    json.attribute("symbol", kernel.symbol);
    json.attribute("threads", kernel.threads);
    json.attribute("shared_bytes", 0);
    json.attribute("registers", 0);
  }
  auto signature = llvm::find_if(signatures, [&](const KernelSignature &each) {
    return each.kernel == kernel.name;
  });
  if (signature == signatures.end())
    return;
  json.attribute("argument_bytes", signature->bytes);
  json.attributeArray("parameters", [&] {
    for (const KernelParameter &parameter : signature->parameters)
      json.object([&] {
        json.attribute("type", parameter.type);
        json.attribute("offset", parameter.offset);
      });
  });
}

std::string printManifest(const spec::Spec &spec, const Target &target,
                          const KernelTable &table,
                          const std::vector<KernelSignature> &signatures,
                          llvm::StringRef stem, llvm::StringRef symbol) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("compiler", compilerVersion());
    json.attribute("abi_version", KVC_KERNEL_ABI_VERSION);
    if (target.warps) {
      json.attribute("code", (stem + ".ptx").str());
    } else {
      json.attribute("object", (stem + ".o").str());
      json.attributeArray("symbols", [&] {
        json.value(kTableSymbol);
        json.value(symbol);
      });
    }
    json.attributeObject("target", [&] {
      json.attribute("name", target.name);
      json.attribute("triple", target.triple);
      json.attribute("cpu", target.cpu);
      json.attribute("features", target.features);
      if (target.warps)
        json.attribute("ptx_version",
                       std::to_string(target.ptxVersion / 10) + "." +
                           std::to_string(target.ptxVersion % 10));
      json.attributeArray("needs", [&] {
        for (const std::string &need : target.needs)
          json.value(need);
      });
      if (!target.warps) {
        json.attribute("dot", nameOf(target.dot));
        json.attribute("vector_bits", target.vectorBits);
      }
    });
    json.attribute("spec_hash", specHash(table));
    json.attribute("layout_hash", table.layoutHash);
    json.attribute("page_bytes",
                   layout::pageBytes(spec, target.warps
                                               ? layout::TargetFamily::Nvptx
                                               : layout::TargetFamily::Host));
    json.attributeArray("kernels", [&] {
      for (const KernelEntry &kernel : table.kernels)
        json.object([&] { printKernel(json, kernel, signatures); });
    });
    json.attributeBegin("spec");
    json.rawValue(table.specJson);
    json.attributeEnd();
    if (!table.score.empty())
      json.attribute("score", table.score);
  });
  stream << '\n';
  return text;
}

} // namespace kvc
