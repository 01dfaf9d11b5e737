# Notes the commands of a build script that compile a source of the repository, for bash's BASH_ENV.
# These are not run, nor is a command that is not here: the script goes on as if both had done well.
ascendopt_passes_over() { # of the words of a command, in ascendopt_words
  shopt -s extdebug # here: in a startup file bash would look for its debugger
  while [[ ${ascendopt_words[0]-} =~ ^[A-Za-z_][A-Za-z_0-9]*= ]]; do
    ascendopt_words=("${ascendopt_words[@]:1}")
  done
  local program=${ascendopt_words[0]-} kind word source="" out=""
  [ -n "$program" ] || return 1
  kind=$(type -t -- "$program")
  case $kind:$program in
    builtin:source | builtin:.) [ ! -f "${ascendopt_words[1]-}" ]; return ;;
    builtin:* | keyword:* | function:* | alias:*) return 1 ;;
  esac
  for word in "${ascendopt_words[@]:1}"; do
    [[ $word != @($ASCENDOPT_UNITS) || ! -f $word ]] || source=$word
    [ "$out" != next ] || out=$word
    [ "$word" != -o ] || out=next
  done
  if [ -n "$source" ] && [[ " ${ascendopt_words[*]:1}" == *" -"* ]]; then
    printf '%s\0' "$PWD" "${ascendopt_words[@]}" $'\n' >>"$ASCENDOPT_NOTED"
    [ -z "$out" ] || { mkdir -p "$(dirname "$out")" && : >"$out"; } 2>/dev/null
    return 0
  fi
  [ -z "$kind" ]
}
set -o functrace
# The words are expanded in the trap itself, where "$@" is the script's; without a redirection, which
# no list of words may hold. `!` keeps `set -e` from ending the script.
trap 'ascendopt_words=()
  case $BASH_COMMAND in "[["* | "(("*) ;;
    *) eval "ascendopt_words=(${BASH_COMMAND%%[0-9&]>*})" 2>/dev/null || :
      [ "${#ascendopt_words[@]}" != 0 ] || eval "ascendopt_words=(${BASH_COMMAND%%>*})" 2>/dev/null || : ;;
  esac
  ! ascendopt_passes_over' DEBUG
