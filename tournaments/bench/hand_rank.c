/* The evaluator's two hot loops in C, on the tables of abstraction/holdem/hand_ranks.py: the yardstick
 * of `plurispiel bench engine`. The Python side compiles this file and passes the tables in. */

#include <stdint.h>

typedef struct {
    const int64_t *words, *masks, *starts;
    const uint16_t *low, *high, *values, *flushes;
} rank_tables;

static inline uint16_t rank_ignoring_suits(const rank_tables *t, int64_t word) {
    return t->values[t->low[word & 0xFFFF] + t->high[word >> 16 & 0xFFFF]];
}

void fill_hand_ranks(const rank_tables *tables, const uint8_t *hands, int64_t num_hands, uint16_t *out) {
    const rank_tables t = *tables;
    for (int64_t i = 0; i < num_hands; i++) {
        const uint8_t *cards = hands + 7 * i;
        int64_t word = t.starts[7];
        for (int j = 0; j < 7; j++)
            word += t.words[cards[j]];
        if (__builtin_expect((word & 0x8888LL << 32) != 0, 0)) {
            int64_t masks = 0;
            for (int j = 0; j < 7; j++)
                masks |= t.masks[cards[j]];
            out[i] = t.flushes[masks & 0x1FFF] | t.flushes[masks >> 16 & 0x1FFF]
                   | t.flushes[masks >> 32 & 0x1FFF] | t.flushes[masks >> 48 & 0x1FFF];
        } else {
            out[i] = rank_ignoring_suits(&t, word);
        }
    }
}

static void fill_combos_of_card(uint16_t *out, int card, uint16_t rank) {
    for (int low = 0; low < card; low++)
        out[card * (card - 1) / 2 + low] = rank;
    for (int high = card + 1; high < 52; high++)
        out[high * (high - 1) / 2 + card] = rank;
}

static void fill_board_ranks(const rank_tables *t, const uint8_t *board, int num_cards, uint16_t *out) {
    int64_t word = t->starts[num_cards + 2], masks = 0;
    for (int j = 0; j < num_cards; j++) {
        word += t->words[board[j]];
        masks |= t->masks[board[j]];
    }
    for (int high = 0; high < 13; high++) {
        int64_t high_word = word + t->words[4 * high];
        for (int low = 0; low < high; low++) {
            uint16_t rank = rank_ignoring_suits(t, high_word + t->words[4 * low]);
            for (int card = 4 * high; card < 4 * high + 4; card++)
                for (int j = 0; j < 4; j++)
                    out[card * (card - 1) / 2 + 4 * low + j] = rank;
        }
        uint16_t rank = rank_ignoring_suits(t, high_word + t->words[4 * high]);
        for (int card = 4 * high + 1; card < 4 * high + 4; card++)
            for (int low = 4 * high; low < card; low++)
                out[card * (card - 1) / 2 + low] = rank;
    }
    for (int suit = 0; suit < 4; suit++) {
        int board_mask = masks >> 16 * suit & 0x1FFF;
        if (__builtin_popcount(board_mask) < 3)
            continue;
        if (t->flushes[board_mask])
            for (int combo = 0; combo < 1326; combo++)
                out[combo] = t->flushes[board_mask];
        for (int high = 0; high < 13; high++) {
            int one = board_mask | 1 << high, card = 4 * high + suit;
            if (t->flushes[one])
                fill_combos_of_card(out, card, t->flushes[one]);
            for (int low = 0; low < high; low++)
                out[card * (card - 1) / 2 + 4 * low + suit] = t->flushes[one | 1 << low];
        }
    }
    for (int j = 0; j < num_cards; j++)
        fill_combos_of_card(out, board[j], 0);
}

void fill_boards_ranks(const rank_tables *t, const uint8_t *boards, int64_t num_boards, int num_cards, uint16_t *out) {
    for (int64_t i = 0; i < num_boards; i++)
        fill_board_ranks(t, boards + num_cards * i, num_cards, out + 1326 * i);
}
