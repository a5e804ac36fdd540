/*===- Signatures.h - Parameter lists of a table of calls ---------*- C -*-===*\
|*
|* Part of kvc.
|*
|*===----------------------------------------------------------------------===*|
|*
|* A row of Calls.def ends with a call's types. KVC_PARAMS(T, U) is the list of
|* parameters `T a1, U a2`, KVC_ARGS(T, U) is `, a1, a2`.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_DRIVER_SIGNATURES_H
#define KVC_DRIVER_SIGNATURES_H

#define KVC_PICK(A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, NAME, ...)  \
  NAME
#define KVC_BY_COUNT(NAME, ...)                                                \
  KVC_PICK(0 __VA_OPT__(, ) __VA_ARGS__, NAME##11, NAME##10, NAME##9, NAME##8, \
           NAME##7, NAME##6, NAME##5, NAME##4, NAME##3, NAME##2, NAME##1,      \
           NAME##0, 0)

#define KVC_PARAMS0() void
#define KVC_PARAMS1(T) T a1
#define KVC_PARAMS2(T, U) T a1, U a2
#define KVC_PARAMS3(T, U, ...) KVC_PARAMS2(T, U), __VA_ARGS__ a3
#define KVC_PARAMS4(T, U, V, ...) KVC_PARAMS3(T, U, V), __VA_ARGS__ a4
#define KVC_PARAMS5(T, U, V, W, ...) KVC_PARAMS4(T, U, V, W), __VA_ARGS__ a5
#define KVC_PARAMS6(A, B, C, D, E, ...)                                        \
  KVC_PARAMS5(A, B, C, D, E), __VA_ARGS__ a6
#define KVC_PARAMS7(A, B, C, D, E, F, ...)                                     \
  KVC_PARAMS6(A, B, C, D, E, F), __VA_ARGS__ a7
#define KVC_PARAMS8(A, B, C, D, E, F, G, ...)                                  \
  KVC_PARAMS7(A, B, C, D, E, F, G), __VA_ARGS__ a8
#define KVC_PARAMS9(A, B, C, D, E, F, G, H, ...)                               \
  KVC_PARAMS8(A, B, C, D, E, F, G, H), __VA_ARGS__ a9
#define KVC_PARAMS10(A, B, C, D, E, F, G, H, I, ...)                           \
  KVC_PARAMS9(A, B, C, D, E, F, G, H, I), __VA_ARGS__ a10
#define KVC_PARAMS11(A, B, C, D, E, F, G, H, I, J, ...)                        \
  KVC_PARAMS10(A, B, C, D, E, F, G, H, I, J), __VA_ARGS__ a11
#define KVC_PARAMS(...)                                                        \
  KVC_BY_COUNT(KVC_PARAMS __VA_OPT__(, ) __VA_ARGS__)(__VA_ARGS__)

#define KVC_ARGS0
#define KVC_ARGS1 , a1
#define KVC_ARGS2 KVC_ARGS1, a2
#define KVC_ARGS3 KVC_ARGS2, a3
#define KVC_ARGS4 KVC_ARGS3, a4
#define KVC_ARGS5 KVC_ARGS4, a5
#define KVC_ARGS6 KVC_ARGS5, a6
#define KVC_ARGS7 KVC_ARGS6, a7
#define KVC_ARGS8 KVC_ARGS7, a8
#define KVC_ARGS9 KVC_ARGS8, a9
#define KVC_ARGS10 KVC_ARGS9, a10
#define KVC_ARGS11 KVC_ARGS10, a11
#define KVC_ARGS(...) KVC_BY_COUNT(KVC_ARGS __VA_OPT__(, ) __VA_ARGS__)

#endif /* KVC_DRIVER_SIGNATURES_H */
