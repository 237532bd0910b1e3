/* Byte pair encoding by a rank file (a line: token in hexadecimal, its rank) that takes each text as one piece.
   Speaks PROTOCOL.md. Usage: bpe RANK_FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };
static unsigned char *tokens[MOST];
static size_t lengths[MOST];
static int n_tokens;

static int rank_of(const unsigned char *bytes, size_t length) {
  for (int id = 0; id < n_tokens; id++)
    if (lengths[id] == length && !memcmp(tokens[id], bytes, length)) return id;
  return -1;
}

static void read_ranks(const char *path) {
  char hexadecimal[4096];
  int id;
  FILE *file = fopen(path, "r");
  if (!file) { perror(path); exit(2); }
  while (n_tokens < MOST && fscanf(file, "%4095s %d", hexadecimal, &id) == 2) {
    size_t length = strlen(hexadecimal) / 2;
    unsigned char *bytes = malloc(length);
    for (size_t i = 0; i < length; i++) {
      unsigned value;
      sscanf(hexadecimal + 2 * i, "%2x", &value);
      bytes[i] = (unsigned char)value;
    }
    tokens[n_tokens] = bytes;
    lengths[n_tokens++] = length;
  }
  fclose(file);
}

static size_t put_utf8(unsigned code, unsigned char *out) {
  if (code < 0x80) { out[0] = code; return 1; }
  if (code < 0x800) { out[0] = 0xC0 | code >> 6; out[1] = 0x80 | (code & 63); return 2; }
  if (code < 0x10000) {
    out[0] = 0xE0 | code >> 12; out[1] = 0x80 | (code >> 6 & 63); out[2] = 0x80 | (code & 63);
    return 3;
  }
  out[0] = 0xF0 | code >> 18; out[1] = 0x80 | (code >> 12 & 63); out[2] = 0x80 | (code >> 6 & 63);
  out[3] = 0x80 | (code & 63);
  return 4;
}

/* The JSON string that starts behind `from`, as UTF-8; requests are ASCII, so there is nothing but escapes to undo. */
static size_t read_string(const char *from, unsigned char *out) {
  size_t n = 0;
  for (; *from != '"'; from++) {
    if (*from != '\\') { out[n++] = (unsigned char)*from; continue; }
    from++;
    if (*from == 'u') {
      unsigned code, low;
      sscanf(from + 1, "%4x", &code);
      from += 4;
      if (code >= 0xD800 && code < 0xDC00 && sscanf(from + 1, "\\u%4x", &low) == 1 && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        from += 6;
      }
      n += put_utf8(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code, out + n);
    } else {
      const char *plain = strchr("b\bf\fn\nr\rt\t", *from);
      out[n++] = plain ? (unsigned char)plain[1] : (unsigned char)*from;
    }
  }
  return n;
}

static void encode(const char *text) {
  unsigned char *bytes = malloc(strlen(text) + 1);
  size_t n = read_string(text, bytes), *starts = malloc((n + 2) * sizeof *starts);
  for (size_t i = 0; i <= n; i++) starts[i] = i;
  for (;;) {
    int lowest = -1;
    size_t best = 0;
    for (size_t i = 0; i + 2 <= n; i++) {
      int rank = rank_of(bytes + starts[i], starts[i + 2] - starts[i]);
      if (rank >= 0 && (lowest < 0 || rank < lowest)) { lowest = rank; best = i; }
    }
    if (lowest < 0) break;
    memmove(starts + best + 1, starts + best + 2, (n - best - 1) * sizeof *starts);
    n--;
  }
  printf("\"result\": [");
  for (size_t i = 0; i < n; i++)
    printf(i ? ", %d" : "%d", rank_of(bytes + starts[i], starts[i + 1] - starts[i]));
  printf("]");
  free(bytes);
  free(starts);
}

/* Length of the UTF-8 sequence at `at`, negative where it is cut short or wrong: then that many bytes are one U+FFFD. */
static int sequence(const unsigned char *at, size_t left) {
  unsigned char first = at[0], low = 0x80, high = 0xBF;
  int need = first < 0x80 ? 0 : first < 0xC2 ? -1 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF5 ? 3 : -1;
  if (need < 0) return -1;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  for (int i = 1; i <= need; i++, low = 0x80, high = 0xBF)
    if ((size_t)i >= left || at[i] < low || at[i] > high) return -i;
  return need + 1;
}

static void print_string(const unsigned char *bytes, size_t n) {
  printf("\"result\": \"");
  for (size_t i = 0; i < n;) {
    int length = sequence(bytes + i, n - i);
    if (length < 0) printf("\\ufffd");
    else if (bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\') printf("\\u%04x", bytes[i]);
    else fwrite(bytes + i, 1, (size_t)length, stdout);
    i += (size_t)abs(length);
  }
  printf("\"");
}

static void decode(const char *ids) {
  unsigned char *bytes = NULL;
  size_t n = 0;
  for (char *end; *ids != ']'; ids = end + strspn(end, ", ")) {
    long id = strtol(ids, &end, 10);
    if (id < 0 || id >= n_tokens) {
      printf("\"error\": \"unknown id\", \"message\": \"%ld\"", id);
      free(bytes);
      return;
    }
    bytes = realloc(bytes, n + lengths[id]);
    memcpy(bytes + n, tokens[id], lengths[id]);
    n += lengths[id];
  }
  print_string(bytes, n);
  free(bytes);
}

int main(int count, char **arguments) {
  char *line = NULL;
  size_t room = 0;
  if (count != 2) { fprintf(stderr, "usage: bpe RANK_FILE\n"); return 2; }
  read_ranks(arguments[1]);
  while (getline(&line, &room, stdin) > 0) {
    char *text = strstr(line, "\"text\": \""), *ids = strstr(line, "\"ids\": [");
    printf("{\"id\": %ld, ", strtol(strchr(line, ':') + 1, NULL, 10));
    if (strstr(line, "\"op\": \"encode\"") && text) encode(text + 9);
    else if (strstr(line, "\"op\": \"decode\"") && ids) decode(ids + 8);
    else printf("\"error\": \"unknown operation\"");
    printf("}\n");
    fflush(stdout);
  }
  return 0;
}
