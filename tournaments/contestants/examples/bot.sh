#!/bin/sh
# A poker bot that speaks plurispiel's line protocol, in POSIX shell: it raises pairs as little as it can, pays small
# prices and folds the rest.
while IFS= read -r line; do
    case $line in
        '{"type":"hello"'*)
            echo '{"type":"ready","protocol":1,"name":"sh-bot","deterministic":true,"text":false}' ;;
        '{"type":"act"'*)
            id=${line#*'"id":'}; id=${id%%,*}
            cards=${line#*'"cards":"'}; cards=${cards%%'"'*}
            pot=${line#*'"pot":'}; pot=${pot%%,*}
            price=${line#*'"to_call":'}; price=${price%%,*}
            smallest=${line#*'"raise":'}; smallest=${smallest%%,*}
            action=c
            case $cards in
                ??) ;; # a game with one hole card
                2?2?|3?3?|4?4?|5?5?|6?6?|7?7?|8?8?|9?9?|T?T?|J?J?|Q?Q?|K?K?|A?A?)
                    case $smallest in '['*) [ "$price" -lt "$pot" ] && action=r${smallest#'['} ;; esac ;;
                *)
                    case $line in *'"fold":true'*) [ "$price" -gt $((pot / 4)) ] && action=f ;; esac ;;
            esac
            echo "{\"type\":\"action\",\"id\":$id,\"action\":\"$action\"}" ;;
        '{"type":"quit"'*)
            exit 0 ;;
    esac
done
