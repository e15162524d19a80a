import { execFileSync } from 'node:child_process'
import { createExec } from '@postern/host/processes/exec'
import { expect, test } from 'vitest'
import { readEnvironment } from '../../config.ts'
import { runCli } from '../cli.ts'

async function render(shell: string): Promise<string> {
  const lines: string[] = []
  const io = {
    out: (text: string) => lines.push(text),
    err: () => undefined,
    colour: false,
    readInput: async () => '',
  }
  const context = {
    ...{ io, environment: readEnvironment({}), exec: createExec(), version: '1.2.3', isPrivileged: false },
    ...{
      self: { program: 'node', args: [] },
      now: Date.now,
      random: Math.random,
      signal: AbortSignal.abort(),
    },
  }
  expect(await runCli(context, ['completion', shell])).toBe(shell === 'csh' ? 2 : 0)
  return lines.join('\n')
}

/** What bash offers after these words; the last one is being typed. */
function complete(script: string, ...words: string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(' ')
  const run = `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _postern; echo "\${COMPREPLY[*]}"`
  return execFileSync('bash', ['--norc', '-c', run], { encoding: 'utf8' }).trim().split(' ')
}

test('bash offers commands, then the options of the command', async () => {
  const script = await render('bash')
  expect(complete(script, 'postern', 'd')).toEqual(['disconnect', 'disable', 'diff'])
  expect(complete(script, 'postern', 'http', '--s')).toEqual([
    '--server',
    '--skip-dns-check',
    '--strip-path',
    '--sign-in',
  ])
  expect(complete(script, 'postern', 'udp', '--ttl', '')).toEqual([''])
  expect(complete(script, 'postern', 'nothing', '--')).toEqual([''])
})

test('zsh and fish get the same commands and options, with what each command does', async () => {
  const [zsh, fish] = [await render('zsh'), await render('fish')]
  expect(zsh).toMatch(/^#compdef postern\n/)
  expect(zsh).toContain("'rm:delete a service'")
  expect(zsh).toMatch(/^ {4}share\) compadd -- --help .*--ttl/m)
  expect(fish).toContain("complete -c postern -n __fish_use_subcommand -a rm -d 'delete a service'")
  expect(fish).toContain("complete -c postern -n '__fish_seen_subcommand_from share' -l ttl -r")
  // Names come from the server, where there are some.
  expect(zsh).toContain('command postern complete zsh')
  expect(fish).toContain("'__fish_seen_subcommand_from share' -l node -x -a '(__postern_names)'")
  expect(fish).toContain("'__fish_seen_subcommand_from rm' -f -a '(__postern_names)'")
  expect(fish).not.toContain("'__fish_seen_subcommand_from apply' -f")
})

test('another shell is refused', async () => {
  expect(await render('csh')).toBe('')
})
