// External-sampling MCCFR on the GPU: each thread deals hands and traverses the betting for one seat after another.
//
// The algorithm, the records of nodes and the layout of cells are those of traversal_kernels.py, where the sources are
// cited. cuda_trainer.py writes the sizes of the game in front of this text as macros and compiles both:
//
//   NUM_SEATS, NUM_STREETS, NUM_HOLE, NUM_BOARD, NUM_SUITS, NUM_CARDS, NUM_COMBOS, LAST_AVERAGE_STREET
//   BASES, PAIRS, BOARD_SIZES            lists of numbers, one for each street
//   CHOOSE, CHOOSE_WIDTH                 binomial coefficients, and how many there are for each number of cards
//   ROWS_0 .. ROWS_3, BUCKET, CELL       types of the streets' buckets, of any bucket, and of the index of a cell
//   WORD_START                           initial word of a finished hand (RankTables.starts)
//   MAX_ACTIONS, STACK_WORDS             most actions of a decision, and the 32-bit words of a thread's stack
//   BLOCK, SHARED                        threads of a block, and whether their stacks lie in shared memory
//   VISITS, MAX_VISITS                   whether visits of later streets are averaged, and where their sums are halved

typedef unsigned long long u64;

// A thread's stack, buckets and ranks. Word i of all threads of a block lie side by side, so threads at different
// depths use different banks of the shared memory.
#if SHARED
#define MEMORY __shared__
#define LANES BLOCK
#define LANE threadIdx.x
#else
#define MEMORY
#define LANES 1
#define LANE 0
#endif
#define AT(array, i) array[(i) * LANES + LANE]

// Words of a frame, which is an open decision of the traverser: its first child, the first cell of its row (two words
// if there are more than 2^32 cells), the bit set of the actions to follow, that of the actions left, and the sum of
// probability times value so far. The slots of the actions follow: the probability until an action's value is known,
// then the value.
enum { CHILD, EXPLORED, LEFT, MEAN, FIRST_CELL, SLOTS = FIRST_CELL + sizeof(CELL) / 4, FRAME = SLOTS + MAX_ACTIONS };

__constant__ const long long base_of[4] = {BASES};
__constant__ const long long pairs_of[4] = {PAIRS};
__constant__ const int choose[NUM_CARDS * CHOOSE_WIDTH] = {CHOOSE};

struct Game {
    const int4 *nodes;
    const int *contributions;
    const long long *words, *masks;
    const unsigned short *low, *high, *values, *flushes, *relabel;
    const int *entries_0, *entries_1, *entries_2, *entries_3;
    const ROWS_0 *rows_0;
    const ROWS_1 *rows_1;
    const ROWS_2 *rows_2;
    const ROWS_3 *rows_3;
};

#define GAME_PARAMETERS                                                                                              \
    const int4 *__restrict__ nodes, const int *__restrict__ contributions, const long long *__restrict__ words,      \
        const long long *__restrict__ masks, const unsigned short *__restrict__ low,                                 \
        const unsigned short *__restrict__ high, const unsigned short *__restrict__ values,                          \
        const unsigned short *__restrict__ flushes, const unsigned short *__restrict__ relabel,                      \
        const int *__restrict__ entries_0, const int *__restrict__ entries_1, const int *__restrict__ entries_2,     \
        const int *__restrict__ entries_3, const ROWS_0 *__restrict__ rows_0, const ROWS_1 *__restrict__ rows_1,     \
        const ROWS_2 *__restrict__ rows_2, const ROWS_3 *__restrict__ rows_3
#define GAME                                                                                                         \
    {nodes, contributions, words, masks, low, high, values, flushes, relabel, entries_0, entries_1, entries_2,       \
     entries_3, rows_0, rows_1, rows_2, rows_3}

// Random numbers: xoshiro128++ (Blackman and Vigna 2021). Each hand has a new stream, seeded by splitmix64, so no state
// has to be kept between hands.
struct Stream {
    unsigned s0, s1, s2, s3;
};

__device__ __forceinline__ unsigned next_word(Stream &s) {
    unsigned sum = s.s0 + s.s3, word = (sum << 7 | sum >> 25) + s.s0, shifted = s.s1 << 9;
    s.s2 ^= s.s0;
    s.s3 ^= s.s1;
    s.s1 ^= s.s2;
    s.s0 ^= s.s3;
    s.s2 ^= shifted;
    s.s3 = s.s3 << 11 | s.s3 >> 21;
    return word;
}

__device__ __forceinline__ u64 mixed(u64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

__device__ __forceinline__ Stream new_stream(u64 key, u64 iteration, unsigned purpose) {
    u64 state = mixed(key + 0x9e3779b97f4a7c15ULL * (iteration * (NUM_SEATS + 1) + purpose + 1));
    u64 a = mixed(state + 0x9e3779b97f4a7c15ULL), b = mixed(state + 2 * 0x9e3779b97f4a7c15ULL);
    return {(unsigned)a | 1u, (unsigned)(a >> 32), (unsigned)b, (unsigned)(b >> 32)};
}

// The number of a set of different cards among all sets of this size, as `boards_kernels.board_rank`.
__device__ __forceinline__ int cards_rank(const unsigned char *cards, int count) {
    int rank = 0;
    for (int i = 0; i < count; i++) {
        int place = (cards[i] >> 2) * NUM_SUITS + (cards[i] & 3), below = 1;
        for (int j = 0; j < count; j++) below += cards[j] < cards[i];
        rank += choose[place * CHOOSE_WIDTH + below];
    }
    return rank;
}

template <typename Rows>
__device__ __forceinline__ void fill_buckets(const Game &game, int entry, const Rows *rows, int street,
                                             const int *combos, BUCKET *buckets) {
    const unsigned short *relabel = game.relabel + (entry & 31) * NUM_COMBOS;
    rows += (long long)(entry >> 5) * NUM_COMBOS;
    for (int seat = 0; seat < NUM_SEATS; seat++)
        AT(buckets, street | seat << 2) = __ldg(rows + __ldg(relabel + combos[seat]));
}

// Deal a hand, and write each seat's bucket on every street and its rank.
__device__ __forceinline__ void deal_hand(const Game &game, Stream &stream, unsigned char *cards, BUCKET *buckets,
                                          unsigned short *ranks) {
    u64 dealt = 0;
    for (int k = 0; k < NUM_SEATS * NUM_HOLE + NUM_BOARD; k++) {
        unsigned place;
        do place = __umulhi(next_word(stream), NUM_CARDS);
        while (dealt >> place & 1);
        dealt |= 1ULL << place;
        cards[k] = place / NUM_SUITS * 4 + place % NUM_SUITS;
    }
    const unsigned char *board = cards + NUM_SEATS * NUM_HOLE;
    // All entries are asked for before the first is needed.
    const int *entries[4] = {game.entries_0, game.entries_1, game.entries_2, game.entries_3};
    const int sizes[4] = {BOARD_SIZES};
    int entry[NUM_STREETS];
#pragma unroll
    for (int street = 0; street < NUM_STREETS; street++)
        entry[street] = __ldg(entries[street] + cards_rank(board, sizes[street]));
    long long board_word = WORD_START, board_masks = 0;
    for (int k = 0; k < NUM_BOARD; k++) {
        board_word += __ldg(game.words + board[k]);
        board_masks |= __ldg(game.masks + board[k]);
    }
    int combos[NUM_SEATS];
    for (int seat = 0; seat < NUM_SEATS; seat++) {
        const unsigned char *hole = cards + seat * NUM_HOLE;
        long long word = board_word, masks = board_masks;
        for (int k = 0; k < NUM_HOLE; k++) {
            word += __ldg(game.words + hole[k]);
            masks |= __ldg(game.masks + hole[k]);
        }
        if (word & 0x8888LL << 32)
            AT(ranks, seat) =
                __ldg(game.flushes + (masks & 0x1fff)) | __ldg(game.flushes + (masks >> 16 & 0x1fff)) |
                __ldg(game.flushes + (masks >> 32 & 0x1fff)) | __ldg(game.flushes + (masks >> 48 & 0x1fff));
        else
            AT(ranks, seat) =
                __ldg(game.values + __ldg(game.low + (word & 0xffff)) + __ldg(game.high + (word >> 16 & 0xffff)));
        combos[seat] = cards_rank(hole, NUM_HOLE);
    }
    fill_buckets(game, entry[0], game.rows_0, 0, combos, buckets);
#if NUM_STREETS > 1
    fill_buckets(game, entry[1], game.rows_1, 1, combos, buckets);
#endif
#if NUM_STREETS > 2
    fill_buckets(game, entry[2], game.rows_2, 2, combos, buckets);
#endif
#if NUM_STREETS > 3
    fill_buckets(game, entry[3], game.rows_3, 3, combos, buckets);
#endif
}

// The net chips of a seat that has not folded, with side pots: see `traversal_kernels.layered_value`.
__device__ __noinline__ float layered_value(const int *contributions, unsigned live, int seat,
                                            const unsigned short *ranks) {
    long long own = __ldg(contributions + seat);
    if (live == 1u << seat) {
        long long pot = 0;
        for (int other = 0; other < NUM_SEATS; other++) pot += __ldg(contributions + other);
        return pot - own;
    }
    float value = 0;
    long long floor = 0;
    while (floor < own) {
        long long ceiling = own;
        int sharing = 0, winners = 0, best = -1;
        for (int other = 0; other < NUM_SEATS; other++) {
            long long paid = __ldg(contributions + other);
            if (paid <= floor) continue;
            sharing++;
            if (paid < ceiling) ceiling = paid;
            if (live >> other & 1) {
                int rank = AT(ranks, other);
                if (rank > best) best = rank, winners = 1;
                else if (rank == best) winners++;
            }
        }
        float size = ceiling - floor;
        value += AT(ranks, seat) == best ? size * (sharing - winners) / winners : -size;
        floor = ceiling;
    }
    return value;
}

// The net chips of a seat that has not folded at an end of the betting: see `traversal_kernels.end_value`.
__device__ __forceinline__ float end_value(const Game &game, int4 record, int seat, const unsigned short *ranks) {
    unsigned live = ~record.x;
    if (record.w < 0) return layered_value(game.contributions + (long long)record.y * NUM_SEATS, live, seat, ranks);
    int rank = AT(ranks, seat), winners = 1;
    live ^= 1u << seat;
    for (; live; live &= live - 1) {
        int other = AT(ranks, __ffs(live) - 1);
        if (other > rank) return -(float)record.w;
        winners += other == rank;
    }
    return (float)record.z / winners - record.w;
}

// Regrets come from the second-level cache: the first level would keep values that other processors have changed.
__device__ __forceinline__ void load_row(const int *row, int count, int *out) {
#pragma unroll
    for (int a = 0; a < MAX_ACTIONS; a++) out[a] = a < count ? __ldcg(row + a) : 0;
}

__device__ __forceinline__ float positive(int regret) { return regret > 0 ? (float)regret : 0.0f; }

__device__ __forceinline__ float sum_positive(const int *row) {
    float total = 0;
#pragma unroll
    for (int a = 0; a < MAX_ACTIONS; a++) total += positive(row[a]);
    return total;
}

// Draw an action by regret matching.
__device__ __forceinline__ int draw(const int *row, int count, float total, Stream &stream) {
    float point = (next_word(stream) >> 8) * (1.0f / (1 << 24));
    if (!(total > 0)) return (int)(point * count);
    point *= total;
    int place = -1, last = 0;
#pragma unroll
    for (int a = 0; a < MAX_ACTIONS; a++) {
        if (row[a] > 0) last = a;
        point -= positive(row[a]);
        if (place < 0 && point < 0) place = a;
    }
    return place < 0 ? last : place;  // rounding can leave `point` at 0 or above
}

// Traverse the iterations first .. last - 1 for every seat. `counters`, all 0 before: traversals, nodes met, decisions
// of the traversers, and iterations handed out to threads.
extern "C" __global__ void __launch_bounds__(BLOCK)
    traverse(GAME_PARAMETERS, int *regrets, float *visits, u64 key, long long first, long long last,
             long long prune_from, long long average_from, int floor, int ceiling, int prune_below,
             unsigned prune_share, u64 *counters) {
    const Game game = GAME;
    MEMORY unsigned stack[STACK_WORDS * LANES];
    MEMORY BUCKET buckets[NUM_SEATS * 4 * LANES];
    MEMORY unsigned short ranks[NUM_SEATS * LANES];
    Stream stream = {1, 2, 3, 4};
    int traverser = NUM_SEATS - 1, node = 0, depth = -1;
    long long iteration = first;
    bool begins = true, prune = false;
    u64 num_nodes = 0;
    unsigned num_traversals = 0, num_decisions = 0;
    // One node in each turn. A thread whose traversal is over begins the next at once: the threads of a warp do not
    // wait for the longest traversal.
    while (true) {
        if (begins) {
            if (++traverser == NUM_SEATS) {
                iteration = first + (long long)atomicAdd(counters + 3, 1ULL);
                if (iteration >= last) break;
                stream = new_stream(key, iteration, 0);
                unsigned char cards[NUM_SEATS * NUM_HOLE + NUM_BOARD];
                deal_hand(game, stream, cards, buckets, ranks);
                traverser = 0;
            }
            prune = iteration >= prune_from && next_word(stream) < prune_share;
            node = 0;
            begins = false;
            num_traversals++;
        }
        const int4 record = __ldg(game.nodes + node);
        num_nodes++;
        bool known = record.x < 0;  // whether `value` is the value of the action that the top frame follows
        float value = 0;
        if (known) {
            value = end_value(game, record, traverser, ranks);
        } else {
            const int street = record.x & 3, seat = record.x >> 2 & 63, count = record.x >> 8 & 255;
            const CELL cell = base_of[street] + AT(buckets, street | seat << 2) * pairs_of[street] + record.z;
            int row[MAX_ACTIONS];
            load_row(regrets + cell, count, row);
            const float total = sum_positive(row);
            const float inverse = __fdividef(1.0f, total > 0 ? total : (float)count);
            if (seat != traverser) {
#if VISITS
                if (street > LAST_AVERAGE_STREET && iteration >= average_from) {
#pragma unroll
                    for (int a = 0; a < MAX_ACTIONS; a++)
                        if (a < count && (row[a] > 0 || !(total > 0)))
                            atomicAdd(visits + cell + a, total > 0 ? row[a] * inverse : inverse);
                }
#endif
                node = record.y + draw(row, count, total, stream);
            } else {
                const bool folds = record.x >> 16 & 1, all = !prune || street == NUM_STREETS - 1;
                unsigned explored = 0;
#pragma unroll
                for (int a = 0; a < MAX_ACTIONS; a++)
                    if (a < count && (all || row[a] > prune_below || (a == 0 && folds) ||
                                      __ldg(&game.nodes[record.y + a].x) < 0))
                        explored |= 1u << a;
                if (!explored) explored = (2u << (count - 1)) - 1;
                depth++;
                unsigned *frame = stack + depth * FRAME * LANES;
                AT(frame, CHILD) = record.y;
                AT(frame, EXPLORED) = AT(frame, LEFT) = explored;
                AT(frame, MEAN) = 0;
                AT(frame, FIRST_CELL) = (unsigned)cell;
                if (sizeof(CELL) == 8) AT(frame, SLOTS - 1) = (unsigned)((u64)cell >> 32);
                const float scale = total > 0 ? inverse : __fdividef(1.0f, (float)__popc(explored));
#pragma unroll
                for (int a = 0; a < MAX_ACTIONS; a++)
                    if (a < count) AT(frame, SLOTS + a) = __float_as_uint(total > 0 ? positive(row[a]) * scale : scale);
                node = record.y + __ffs(explored) - 1;
                if (folds) {  // its value is known without a visit
                    known = true;
                    value = -(float)record.w;
                    num_nodes++;
                }
            }
        }
        while (known && depth >= 0) {  // up to a decision with an action left
            unsigned *frame = stack + depth * FRAME * LANES;
            unsigned left = AT(frame, LEFT);
            int place = SLOTS + __ffs(left) - 1;
            float mean = __uint_as_float(AT(frame, MEAN)) + __uint_as_float(AT(frame, place)) * value;
            AT(frame, place) = __float_as_uint(value);
            left &= left - 1;
            if (left) {
                AT(frame, LEFT) = left;
                AT(frame, MEAN) = __float_as_uint(mean);
                node = AT(frame, CHILD) + __ffs(left) - 1;
                known = false;
            } else {
                u64 cell = AT(frame, FIRST_CELL);
                if (sizeof(CELL) == 8) cell |= (u64)AT(frame, SLOTS - 1) << 32;
                const unsigned explored = AT(frame, EXPLORED);
                int row[MAX_ACTIONS];
#pragma unroll
                for (int a = 0; a < MAX_ACTIONS; a++) row[a] = explored >> a & 1 ? __ldcg(regrets + cell + a) : 0;
#pragma unroll
                for (int a = 0; a < MAX_ACTIONS; a++)
                    if (explored >> a & 1) {
                        // Other threads may change the cell meanwhile, and carry it a little beyond the bounds; the
                        // next change brings it back. The bounds are far enough from those of int32.
                        float change = __uint_as_float(AT(frame, SLOTS + a)) - mean;
                        long long changed = row[a] + (long long)__float2int_rn(change);
                        changed = changed < floor ? floor : changed > ceiling ? ceiling : changed;
                        if (changed != row[a]) atomicAdd(regrets + cell + a, (int)(changed - row[a]));
                    }
                value = mean;
                num_decisions++;
                depth--;
            }
        }
        begins = known;
    }
    atomicAdd(counters, (u64)num_traversals);
    atomicAdd(counters + 1, num_nodes);
    atomicAdd(counters + 2, (u64)num_decisions);
}

// Update the averages by `count` deals for each seat, as `traversal_kernels.add_strategy`: one thread for each seat and
// iteration, from `first` on in steps of `every`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    average(GAME_PARAMETERS, const int *regrets, double *sums, u64 key, long long first, long long every,
            long long count) {
    const Game game = GAME;
    MEMORY unsigned stack[STACK_WORDS * LANES];
    MEMORY BUCKET buckets[NUM_SEATS * 4 * LANES];
    MEMORY unsigned short ranks[NUM_SEATS * LANES];
    for (long long k = blockIdx.x * (long long)BLOCK + threadIdx.x; k < count * NUM_SEATS;
         k += gridDim.x * (long long)BLOCK) {
        const int seat = (int)(k / count);
        Stream stream = new_stream(key, first + k % count * every, 1 + seat);
        unsigned char cards[NUM_SEATS * NUM_HOLE + NUM_BOARD];
        deal_hand(game, stream, cards, buckets, ranks);
        int level = 0, node = 0;  // two words for each open decision of another seat: next child, and children after it
        while (node >= 0) {
            const int4 record = __ldg(game.nodes + node);
            const int street = record.x & 3, count_of = record.x >> 8 & 255;
            node = -1;
            if (record.x >= 0 && street <= LAST_AVERAGE_STREET) {
                if ((record.x >> 2 & 63) != seat) {
                    AT(stack, 2 * level) = record.y + 1;
                    AT(stack, 2 * level + 1) = count_of - 1;
                    level++;
                    node = record.y;
                } else {
                    const CELL cell = base_of[street] + AT(buckets, street | seat << 2) * pairs_of[street] + record.z;
                    int row[MAX_ACTIONS];
                    load_row(regrets + cell, count_of, row);
                    const float total = sum_positive(row);
#pragma unroll
                    for (int a = 0; a < MAX_ACTIONS; a++)
                        if (a < count_of && (row[a] > 0 || !(total > 0)))
                            atomicAdd(sums + cell + a, total > 0 ? row[a] / (double)total : 1.0 / count_of);
                    const int place = draw(row, count_of, total, stream);
                    if (place > 0 || !(record.x >> 16 & 1)) node = record.y + place;
                }
            }
            while (node < 0 && level > 0) {
                const unsigned left = AT(stack, 2 * level - 1);
                if (left) {
                    node = AT(stack, 2 * level - 2)++;
                    AT(stack, 2 * level - 1) = left - 1;
                } else {
                    level--;
                }
            }
        }
    }
}

#define EACH(i, count)                                                                                               \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (count);                                \
         i += gridDim.x * (long long)blockDim.x)

extern "C" __global__ void discount_regrets(int *cells, long long count, double factor) {
    EACH(i, count) if (cells[i]) cells[i] = (int)rint(cells[i] * factor);
}

extern "C" __global__ void discount_sums(double *sums, long long count, double factor) {
    EACH(i, count) sums[i] *= factor;
}

extern "C" __global__ void discount_visits(float *sums, long long count, float factor) {
    EACH(i, count) if (sums[i] != 0) sums[i] *= factor;
}

extern "C" __global__ void clear_snapshots(unsigned short *sums, long long count) {
    EACH(i, count) sums[i] = 0;
}

// Add one street's current strategies to the sums of snapshots, as `traversal_kernels.add_snapshot`.
extern "C" __global__ void add_snapshot(const int *offsets, const int *counts, long long num_decisions,
                                        long long num_buckets, long long base, long long pairs, const int *regrets,
                                        unsigned short *sums) {
    EACH(i, num_decisions * num_buckets) {
        const int count = counts[i % num_decisions];
        const long long cell = base + i / num_decisions * pairs + offsets[i % num_decisions];
        double total = 0;
        bool visited = false;
        for (int a = 0; a < count; a++) {
            visited |= regrets[cell + a] != 0;
            if (regrets[cell + a] > 0) total += regrets[cell + a];
        }
        if (!visited) continue;
        for (int a = 0; a < count; a++) {
            double share = total > 0 ? (regrets[cell + a] > 0 ? regrets[cell + a] / total : 0) : 1.0 / count;
            sums[cell + a] += (unsigned short)rint(share * 255);
        }
    }
}

// Halve the rows of one street whose visits float32 would soon stop to count.
extern "C" __global__ void halve_visits(const int *offsets, const int *counts, long long num_decisions,
                                        long long num_buckets, long long base, long long pairs, float *visits) {
    EACH(i, num_decisions * num_buckets) {
        const int count = counts[i % num_decisions];
        const long long cell = base + i / num_decisions * pairs + offsets[i % num_decisions];
        float total = 0;
        for (int a = 0; a < count; a++) total += visits[cell + a];
        if (total > MAX_VISITS)
            for (int a = 0; a < count; a++) visits[cell + a] *= 0.5f;
    }
}
