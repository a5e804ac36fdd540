//===- Commands.h - The subcommands of kvc ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each add*Command declares one subcommand's options and runs it from its
// callback. A callback throws a Failure (Failure.h) or returns.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_COMMANDS_H
#define KVC_TOOLS_COMMANDS_H

namespace CLI {
class App;
}

namespace kvc {

void addRunCommand(CLI::App &app);
void addTranslateCommand(CLI::App &app);
void addCompileCommand(CLI::App &app);
void addBenchCommand(CLI::App &app);
void addEvalCommand(CLI::App &app);
void addCalibrateCommand(CLI::App &app);
void addPlanCommand(CLI::App &app);
void addPresetsCommand(CLI::App &app);
void addInspectCommand(CLI::App &app);
void addSimCommand(CLI::App &app);
void addCacheCommand(CLI::App &app);

} // namespace kvc

#endif // KVC_TOOLS_COMMANDS_H
