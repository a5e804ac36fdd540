// Every numbered constraint of attributes and types of kvk, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a digit of dim c at place 2, the next is c2}}
func.func private @layout_l1() attributes {test.a = #kvk.layout<pack = [c0], reg = [c2]>}

// -----

// expected-error@+1 {{digit t0 overlaps t0}}
func.func private @layout_l1_twice() attributes {test.a = #kvk.layout<reg = [t0], lane = [t0]>}

// -----

// expected-error@+1 {{pack: expected no *}}
func.func private @layout_l4() attributes {test.a = #kvk.layout<pack = [*]>}

// -----

// expected-error@+1 {{reg: expected no *}}
func.func private @layout_l4_reg() attributes {test.a = #kvk.layout<reg = [c0, *]>}

// -----

// expected-error@+1 {{expected a digit (t3, c[16:5] or *), got tt}}
func.func private @digit() attributes {test.a = #kvk.layout<reg = [tt]>}

// -----

// expected-error@+1 {{expected a digit (t3, c[16:5] or *), got t[0:2]}}
func.func private @digit_place() attributes {test.a = #kvk.layout<reg = [t[0:2]]>}

// -----

// expected-error@+1 {{digit c[2:3] overlaps c[1:5]}}
func.func private @storage_l1() attributes {test.a = #kvk.storage<width = 4, addr = [c[1:5], c[2:3]]>}

// -----

// expected-error@+1 {{expected a digit (t3, c[16:5] or *), got c[4611686018427387904:3]}}
func.func private @digit_extent() attributes {test.a = #kvk.storage<width = 4, addr = [c[4611686018427387904:3]]>}

// -----

// expected-error@+1 {{addr: expected no *}}
func.func private @storage_l4() attributes {test.a = #kvk.storage<width = 4, addr = [*, c0]>}

// -----

// expected-error@+1 {{steps: expected a positive number of bytes, got 0}}
func.func private @storage_c1_steps() attributes {test.a = #kvk.storage<width = 4, addr = [c0], steps = [t0 * 0]>}

// -----

// expected-error@+1 {{digit t0 overlaps t0}}
func.func private @storage_l1_steps() attributes {test.a = #kvk.storage<width = 4, addr = [c0, t0], steps = [t0 * 8]>}

// -----

// expected-error@+1 {{width: expected 1 to 64, got 0}}
func.func private @storage_c1() attributes {test.a = #kvk.storage<width = 0, addr = [c0]>}

// -----

// expected-error@+1 {{width: expected 1 to 64, got 4294967295}}
func.func private @storage_c1_width() attributes {test.a = #kvk.storage<width = 4294967295, addr = [c0]>}

// -----

// expected-error@+1 {{digit x[1:9223372036854775807]: expected one of the dims t, c, d, b, h}}
func.func private @storage_c2() attributes {test.a = #kvk.storage<width = 4, addr = [c0, x[1:9223372036854775807]]>}

// -----

// expected-error@+1 {{digit q0: expected one of the dims t, c, d, b, h}}
func.func private @storage_c2_steps() attributes {test.a = #kvk.storage<width = 4, addr = [c0], steps = [q0 * 8]>}

// -----

// expected-error@+1 {{expected addresses below 2^63 bits}}
func.func private @storage_c3() attributes {test.a = #kvk.storage<width = 4, addr = [h[1:4611686018427387904], b[1:4611686018427387904]]>}

// -----

// Elements are fewer, their bits not.
// expected-error@+1 {{expected addresses below 2^63 bits}}
func.func private @storage_c3_bits() attributes {test.a = #kvk.storage<width = 4, addr = [h[1:2305843009213693952]]>}

// -----

// expected-error@+1 {{expected addresses below 2^63 bits}}
func.func private @storage_c3_steps() attributes {test.a = #kvk.storage<width = 4, addr = [c0], steps = [h[1:9223372036854775807] * 9223372036854775807]>}

// -----

// Each of them fits, their sum does not.
// expected-error@+1 {{expected addresses below 2^63 bits}}
func.func private @storage_c3_sum() attributes {test.a = #kvk.storage<width = 4, addr = [c0], steps = [h0 * 1000000000000000000, t0 * 1000000000000000000]>}

// -----

// expected-error@+1 {{digit x0: expected one of the dims t, c, d, b, e, h, q, r, m, n, k}}
func.func private @layout_c1() attributes {test.a = #kvk.layout<reg = [x0]>}

// -----

// expected-error@+1 {{expected a product of all counts below 2^63}}
func.func private @layout_c2() attributes {test.a = #kvk.layout<reg = [c[1:3037000500], t[1:3037000501]]>}

// -----

// expected-error@+1 {{expected as many extents as #kvc.dims names (1), got 2}}
func.func private @tile_c1(!kvk.tile<4x4xi4, #kvc.dims<t>>)

// -----

// expected-error@+1 {{expected a positive extent of dim t, got 0}}
func.func private @tile_c1_extent(!kvk.tile<0x4xi4, #kvc.dims<t, c>>)

// -----

// expected-error@+1 {{expected elements of 1 to 16 integer bits, f16, bf16 or f32, got 'i32'}}
func.func private @tile_c2(!kvk.tile<4x4xi32, #kvc.dims<t, c>>)

// -----

// expected-error@+1 {{expected fewer than 2^63 elements}}
func.func private @tile_c3(!kvk.tile<4611686018427387904x4611686018427387904xi4, #kvc.dims<t, c>>)

// -----

// expected-error@+1 {{layout: expected extent 4 of dim c, got 2}}
func.func private @tile_l2(!kvk.tile<4x4xf32, #kvc.dims<t, c>, #kvk.layout<reg = [c0], lane = [t0, t1]>>)

// -----

// expected-error@+1 {{layout: expected digits of the tile's dims only}}
func.func private @tile_l2_dims(!kvk.tile<4x2xf32, #kvc.dims<t, c>, #kvk.layout<reg = [c0, d0], lane = [t0, t1]>>)

// -----

// expected-error@+1 {{layout: expected pack to fill 32 bits, got 2 elements of 'f32'}}
func.func private @tile_l3(!kvk.tile<4x2xf32, #kvc.dims<t, c>, #kvk.layout<pack = [c0], lane = [t0, t1]>>)
