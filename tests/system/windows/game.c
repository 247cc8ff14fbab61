// The game of fixtures/referees/nim.c for Windows, which has no `getline`: by a pipe or, with a port, over that.
#include <winsock2.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>

static int getline(char **line, size_t *room, FILE *from) {
    size_t length = 0;
    for (int next; (next = fgetc(from)) != EOF;) {
        if (length + 2 > *room) *line = realloc(*line, *room = *room * 2 + 64);
        (*line)[length++] = (char)next, (*line)[length] = 0;
        if (next == '\n') break;
    }
    return (int)length;
}

#define main game
#include "../../../fixtures/referees/nim.c"
#undef main

int main(int count, char **words) {
    if (count > 1) {
        WSADATA started;
        WSAStartup(MAKEWORD(2, 2), &started);
        SOCKET to = WSASocketA(AF_INET, SOCK_STREAM, 0, NULL, 0, 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(to, (struct sockaddr *)&address, sizeof address)) return 1;
        int file = _open_osfhandle((intptr_t)to, _O_BINARY);
        _dup2(file, 0), _dup2(file, 1);
    }
    return game();
}
