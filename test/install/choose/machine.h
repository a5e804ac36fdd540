/*===- machine.h - In place of __builtin_cpu_supports -------------*- C -*-===*\
|*
|* Part of kvc.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_TEST_MACHINE_H_
#define KVC_TEST_MACHINE_H_

/** Whether the machine that the test invents has `feature`. */
int machine_supports(const char *feature);

#endif /* KVC_TEST_MACHINE_H_ */
