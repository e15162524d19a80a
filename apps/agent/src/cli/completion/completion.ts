import { AgentError } from '../../errors.ts'
import { type Command, defineCommand, findText } from '../command.ts'
import { takesNames } from './complete.ts'

type Commands = Readonly<Record<string, Command>>

/** In a shell's single quotes, where only the quote itself needs care. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const optionsOf = ({ options }: Command) => ['--help', ...options.map((name) => `--${name}`)].join(' ')

/** The verbs with something that is called by a name of the server's. */
function verbsWithNames(commands: Commands): string[] {
  return Object.entries(commands).flatMap(([verb, { valued, argument }]) =>
    [...valued, ...argument].some(takesNames) ? [verb] : [],
  )
}

function renderBash(commands: Commands): string {
  const cases = Object.entries(commands).map(
    ([name, each]) => `    ${name}) words=${quoted(optionsOf(each))} ;;`,
  )
  return `# postern completion bash > /etc/bash_completion.d/postern
_postern() {
  local word=\${COMP_WORDS[COMP_CWORD]} words name
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(Object.keys(commands).join(' '))} -- "$word"))
    return
  fi
  if [[ $word != -* ]]; then
    case \${COMP_WORDS[1]} in
    ${verbsWithNames(commands).join('|')})
      while IFS= read -r name; do COMPREPLY+=("$name"); done < <(
        command postern complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null
      ) ;;
    esac
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _postern postern`
}

function renderZsh(commands: Commands): string {
  const verbs = Object.entries(commands).map(
    ([name, { summary }]) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`,
  )
  const cases = Object.entries(commands).map(
    ([name, each]) => `    ${name}) compadd -- ${optionsOf(each)} ;;`,
  )
  return `#compdef postern
# postern completion zsh > "\${fpath[1]}/_postern"
_postern() {
  local -a verbs=(
${verbs.join('\n')}
  ) names
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  if [[ $PREFIX != -* || $PREFIX == --*=* ]]; then
    case $words[2] in
    ${verbsWithNames(commands).join('|')})
      names=(\${(f)"$(command postern complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)"}) ;;
    esac
    [[ $PREFIX == --*=* ]] && compset -P '*='
    if (( $#names )); then compadd -- $names; else _files; fi
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _postern ]; then _postern "$@"; else compdef _postern postern; fi`
}

function renderFish(commands: Commands): string {
  const lines = Object.entries(commands).flatMap(([name, { summary, options, valued, argument }]) => {
    const here = `complete -c postern -n '__fish_seen_subcommand_from ${name}'`
    const after = (option: string) =>
      takesNames(option) ? ` -x -a '(__postern_names)'` : valued.includes(option) ? ' -r' : ''
    return [
      `complete -c postern -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...['help', ...options].map((option) => `${here} -l ${option}${after(option)}`),
      ...(argument.some(takesNames) ? [`${here} -f -a '(__postern_names)'`] : []),
    ]
  })
  return `# postern completion fish > ~/.config/fish/completions/postern.fish
function __postern_names
  set -l words (commandline -opc)
  set -l now (commandline -ct | string unescape)
  command postern complete fish $words[2..-1] "$now" 2>/dev/null
end
${lines.join('\n')}`
}

const SHELLS = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const

/** @param load all commands; the script has their names and options */
export function defineCompletion(load: () => Promise<Commands>): Command {
  return defineCommand({
    summary: 'print a script that completes commands, options and names in a shell',
    help: `Usage: postern completion bash|zsh|fish

Prints a script for the shell to read. It completes commands and options, and asks the
server for the names of services, nodes and domains:

  postern completion bash > /etc/bash_completion.d/postern
  postern completion zsh > "\${fpath[1]}/_postern"
  postern completion fish > ~/.config/fish/completions/postern.fish`,
    options: {},
    argument: 'shell',
    parse(values) {
      const shell = findText(values, 'shell') ?? ''
      if (!Object.hasOwn(SHELLS, shell)) throw new AgentError('usage', 'Name a shell: bash, zsh or fish')
      // Checked above.
      return shell as keyof typeof SHELLS
    },
    async run(call, shell) {
      call.context.io.out(SHELLS[shell](await load()))
      return 'ok'
    },
  })
}
