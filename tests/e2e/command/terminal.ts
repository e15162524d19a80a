import { spawn } from 'node:child_process'
import { until } from '@postern/testkit/until'

export interface Terminal {
  /** All that stands on it so far, with line ends as programs write them. */
  said(): string
  /** Waits until it says this. @returns the match */
  says(pattern: RegExp): Promise<RegExpExecArray>
  press(key: string): void
  exited: Promise<number | null>
  /** Ends what still runs. */
  close(): Promise<void>
}

/** Starts a program as a person does, on a terminal. It gets these variables and no others. */
export function startOnTerminal(argv: readonly string[], env: Record<string, string>): Terminal {
  const line = argv.map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(' ')
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', ...env },
    stdio: 'pipe',
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += String(chunk).replaceAll('\r\n', '\n')
    })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    said: () => said,
    async says(pattern) {
      let match: RegExpExecArray | null = null
      await until(`the terminal to say ${pattern}`, () => {
        match = pattern.exec(said)
        return match !== null || child.exitCode !== null
      })
      if (match) return match
      throw new Error(`The terminal said something else: ${said}`)
    },
    press: (key) => child.stdin.write(key),
    exited,
    async close() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
