/* A poker bot that speaks plurispiel's line protocol: cc -O2 -o bot bot.c
   It raises pairs and good high cards before the flop, pays small prices, and folds the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 16];

/* Return the text after "KEY": in the line; keys and values are written without blanks around the colon. */
static const char *value(const char *key) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *found = strstr(line, wanted);
    return found ? found + strlen(wanted) : "";
}

static int rank(char letter) {
    return (int)(strchr("23456789TJQKA", letter) - "23456789TJQKA");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0); /* every line leaves at once */
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"quit\"")) break;
        if (strstr(line, "\"type\":\"hello\""))
            puts("{\"type\":\"ready\",\"protocol\":1,\"name\":\"c-bot\",\"deterministic\":true,\"text\":false}");
        if (!strstr(line, "\"type\":\"act\"")) continue;
        const char *cards = value("cards") + 1; /* "AsKd": after the quotation mark */
        long long id = atoll(value("id")), pot = atoll(value("pot")), price = atoll(value("to_call"));
        int first = rank(cards[0]), second = cards[2] == '"' ? first : rank(cards[2]);
        int is_good = first == second || (first >= 8 && second >= 8);
        int before_flop = value("board")[1] == '"', can_fold = *value("fold") == 't';
        const char *raise = value("raise"); /* [SMALLEST,LARGEST] or null */
        printf("{\"type\":\"action\",\"id\":%lld,\"action\":\"", id);
        if (is_good && before_flop && *raise == '[' && price < pot)
            printf("r%lld\"}\n", atoll(raise + 1));
        else if (can_fold && !is_good && price > pot / 4)
            puts("f\"}");
        else
            puts("c\"}");
    }
    return 0;
}
