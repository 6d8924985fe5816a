//go:build !purego

#include "textflag.h"

// The callers in kernels_amd64.go check all lengths; nothing here reads or writes
// beyond the counts it is given. Counts are numbers, not bytes, and above 0.

// func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	MOVL DX, edx+20(FP)
	RET

// func xgetbv() (eax uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, eax+0(FP)
	RET

// func dot64AVX2(a, b *float32, n int) float64
// Eight sums, two registers of four; n is a multiple of 8.
TEXT ·dot64AVX2(SB), NOSPLIT, $0-32
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DI
	MOVQ   n+16(FP), CX
	XORL   AX, AX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

dot64loop:
	VCVTPS2PD    (SI)(AX*4), Y2
	VCVTPS2PD    16(SI)(AX*4), Y3
	VCVTPS2PD    (DI)(AX*4), Y4
	VCVTPS2PD    16(DI)(AX*4), Y5
	VFMADD231PD  Y2, Y4, Y0
	VFMADD231PD  Y3, Y5, Y1
	ADDQ         $8, AX
	CMPQ         AX, CX
	JLT          dot64loop
	VADDPD       Y1, Y0, Y0        // sums 0-3 plus sums 4-7
	VEXTRACTF128 $1, Y0, X1
	VADDPD       X1, X0, X0        // 0 plus 2, 1 plus 3
	VHADDPD      X0, X0, X0
	VMOVSD       X0, ret+24(FP)
	VZEROUPPER
	RET

// func dot4AVX2(out *[4]float32, q, a, b, c, d *float32, n int)
// One vector with four others, two registers of sums each; n is a multiple of 16.
TEXT ·dot4AVX2(SB), NOSPLIT, $0-56
	MOVQ   out+0(FP), DI
	MOVQ   q+8(FP), SI
	MOVQ   a+16(FP), R8
	MOVQ   b+24(FP), R9
	MOVQ   c+32(FP), R10
	MOVQ   d+40(FP), R11
	MOVQ   n+48(FP), CX
	XORL   AX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

dot4loop:
	VMOVUPS      (SI)(AX*4), Y8
	VMOVUPS      32(SI)(AX*4), Y9
	VFMADD231PS  (R8)(AX*4), Y8, Y0
	VFMADD231PS  32(R8)(AX*4), Y9, Y1
	VFMADD231PS  (R9)(AX*4), Y8, Y2
	VFMADD231PS  32(R9)(AX*4), Y9, Y3
	VFMADD231PS  (R10)(AX*4), Y8, Y4
	VFMADD231PS  32(R10)(AX*4), Y9, Y5
	VFMADD231PS  (R11)(AX*4), Y8, Y6
	VFMADD231PS  32(R11)(AX*4), Y9, Y7
	ADDQ         $16, AX
	CMPQ         AX, CX
	JLT          dot4loop
	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y5, Y4, Y4
	VADDPS       Y7, Y6, Y6
	VHADDPS      Y2, Y0, Y0        // a a b b, in both halves
	VHADDPS      Y6, Y4, Y4        // c c d d
	VHADDPS      Y4, Y0, Y0        // a b c d
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVUPS      X0, (DI)
	VZEROUPPER
	RET

// func axpyAVX2(y, x *float32, n int, f float32)
// Adds f times x to y; n is a multiple of 8.
TEXT ·axpyAVX2(SB), NOSPLIT, $0-28
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS f+24(FP), Y0
	XORL         AX, AX

axpyloop:
	VMULPS  (SI)(AX*4), Y0, Y1
	VADDPS  (DI)(AX*4), Y1, Y1
	VMOVUPS Y1, (DI)(AX*4)
	ADDQ    $8, AX
	CMPQ    AX, CX
	JLT     axpyloop
	VZEROUPPER
	RET

// PAIR adds two dimensions of 16 rows to Y0 (rows 0-7) and Y1 (rows 8-15): codes
// of 8 bits become 16, and VPMADDWD multiplies and adds the two of a row.
#define PAIR(i) \
	VPBROADCASTD (i)*4(BX), Y2; \
	VPMOVSXBW    (i)*32(SI), Y3; \
	VPMOVSXBW    (i)*32+16(SI), Y4; \
	VPMADDWD     Y2, Y3, Y3; \
	VPMADDWD     Y2, Y4, Y4; \
	VPADDD       Y3, Y0, Y0; \
	VPADDD       Y4, Y1, Y1

#define PAIRS(i) PAIR(i); PAIR(i+1); PAIR(i+2); PAIR(i+3)

// BOUND makes bounds of the sums in SUM, without fused operations as in Go, and
// keeps a bit for each that is not below the floor.
#define BOUND(SUM, off, BITS) \
	VCVTDQ2PS SUM, SUM; \
	VMULPS    Y5, SUM, SUM; \
	VADDPS    64+off(DX), SUM, SUM; \
	VMULPS    off(DX), Y6, Y2; \
	VADDPS    Y2, SUM, SUM; \
	VCMPPS    $0x15, Y7, SUM, SUM; \
	VMOVMSKPS SUM, BITS

// func scanAVX2(masks *uint16, codes *byte, tails *float32, n int, weights *int16, p *line)
// n blocks of 16 rows.
TEXT ·scanAVX2(SB), NOSPLIT, $0-48
	MOVQ         masks+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         tails+16(FP), DX
	MOVQ         n+24(FP), CX
	MOVQ         weights+32(FP), BX
	MOVQ         p+40(FP), AX
	VBROADCASTSS (AX), Y5
	VBROADCASTSS 4(AX), Y6
	VBROADCASTSS 8(AX), Y7

scanloop:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	PAIRS(0)
	PAIRS(4)
	PAIRS(8)
	PAIRS(12)
	PAIRS(16)
	PAIRS(20)
	PAIRS(24)
	PAIRS(28)
	BOUND(Y0, 0, AX)
	BOUND(Y1, 32, R8)
	SHLL  $8, R8
	ORL   R8, AX
	MOVW  AX, (DI)
	ADDQ  $2, DI
	ADDQ  $1024, SI
	ADDQ  $128, DX
	DECQ  CX
	JNE   scanloop
	VZEROUPPER
	RET
