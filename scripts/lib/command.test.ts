import { UsageError } from '@postern/host/flags'
import { afterEach, expect, test, vi } from 'vitest'
import { CommandError, runCommand } from './command.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

test('what an error quotes, like the name of another program, cannot control the terminal', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await runCommand(() =>
    Promise.reject(
      new CommandError('port 3000 is taken by \u001b]0;x\u0007evil\npostern: all is well\u202e'),
    ),
  )
  expect(write).toHaveBeenCalledExactlyOnceWith(
    'postern: port 3000 is taken by  ]0;x evil postern: all is well \n',
  )
  expect(process.exitCode).toBe(1)
})

test('a wrong command line is one line and exit code 2', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await runCommand(() => Promise.reject(new UsageError('--x is not an option')))
  expect(write).toHaveBeenCalledExactlyOnceWith('postern: --x is not an option\n')
  expect(process.exitCode).toBe(2)
})
