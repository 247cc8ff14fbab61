// Wine 8 lacks this library of Windows, of which Rust's programs need one function.
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T count) { return RtlGenRandom(to, (ULONG)count); }
