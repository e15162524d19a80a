import { AgentError } from '../errors.ts'
import { type Command, defineCommand, findText } from './command.ts'

type Commands = Readonly<Record<string, Command>>

/** In a shell's single quotes, where only the quote itself needs care. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const optionsOf = ({ options }: Command) => ['--help', ...options.map((name) => `--${name}`)].join(' ')

function renderBash(commands: Commands): string {
  const cases = Object.entries(commands).map(
    ([name, each]) => `    ${name}) words=${quoted(optionsOf(each))} ;;`,
  )
  return `# postern completion bash > /etc/bash_completion.d/postern
_postern() {
  local word=\${COMP_WORDS[COMP_CWORD]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(Object.keys(commands).join(' '))} -- "$word"))
    return
  fi
  [[ $word == -* ]] || return
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
  )
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  if [[ $PREFIX != -* ]]; then
    _files
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _postern ]; then _postern "$@"; else compdef _postern postern; fi`
}

function renderFish(commands: Commands): string {
  const lines = Object.entries(commands).flatMap(([name, { summary, options }]) => [
    `complete -c postern -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...['help', ...options].map(
      (option) => `complete -c postern -n '__fish_seen_subcommand_from ${name}' -l ${option}`,
    ),
  ])
  return ['# postern completion fish > ~/.config/fish/completions/postern.fish', ...lines].join('\n')
}

const SHELLS = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const

/** @param load all commands; the script has their names and options */
export function defineCompletion(load: () => Promise<Commands>): Command {
  return defineCommand({
    summary: 'print a script that completes commands and options in a shell',
    help: `Usage: postern completion bash|zsh|fish

Prints a script for the shell to read:

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
