/* The one function of bcryptprimitives.dll that programs in Rust use. Wine has the library since version 8.17. */
#include <stddef.h>

/* RtlGenRandom. https://learn.microsoft.com/windows/win32/api/ntsecapi/nf-ntsecapi-rtlgenrandom */
unsigned char __stdcall SystemFunction036(void *buffer, unsigned long length);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, size_t length) {
  return SystemFunction036(data, (unsigned long)length);
}
