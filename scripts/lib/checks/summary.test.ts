import { expect, test } from 'vitest'
import { listFailures, sum, tallyExit, tallyVitest } from './summary.ts'

const passed = { status: 'passed', fullName: 'adds', failureMessages: [] }
const file = { name: 'sum.test.ts', status: 'passed', message: '', assertionResults: [passed] }
const report = {
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [file],
}

test('a clean run counts its tests', () => {
  expect(tallyVitest(report)).toEqual({ passed: 3, failed: 0 })
})

test('skipped and planned tests are failed tests', () => {
  expect(tallyVitest({ ...report, numPendingTests: 2, numTodoTests: 1 })).toEqual({ passed: 3, failed: 3 })
})

test('a file that cannot be loaded is a failed test', () => {
  const broken = { ...file, status: 'failed', assertionResults: [] }
  expect(tallyVitest({ ...report, testResults: [file, broken] })).toEqual({ passed: 3, failed: 1 })
})

test('a runner that ran nothing or wrote no report has failed', () => {
  expect(tallyVitest({ ...report, numPassedTests: 0, testResults: [] })).toEqual({ passed: 0, failed: 1 })
  expect(tallyVitest(undefined)).toEqual({ passed: 0, failed: 1 })
})

test('an exit code that the report does not explain is a failure', () => {
  expect(tallyExit(1, { passed: 5, failed: 0 })).toEqual({ passed: 5, failed: 1 })
  expect(tallyExit(1, { passed: 5, failed: 2 })).toEqual({ passed: 5, failed: 2 })
  expect(tallyExit(1)).toEqual({ passed: 0, failed: 1 })
  expect(tallyExit(0)).toEqual({ passed: 1, failed: 0 })
})

test('tallies add up', () => {
  expect(
    sum([report, { passed: 1, failed: 0 }].map((each) => ('passed' in each ? each : tallyVitest(each)))),
  ).toEqual({
    passed: 4,
    failed: 0,
  })
})

test('each failure is named with the first line of its reason', () => {
  const failed = {
    status: 'failed',
    fullName: 'adds up',
    failureMessages: ['expected 3\n  at sum.test.ts:4'],
  }
  const skipped = { status: 'skipped', fullName: 'divides', failureMessages: [] }
  const broken = {
    name: 'b.test.ts',
    status: 'failed',
    message: 'no such module\nmore',
    assertionResults: [],
  }
  const testResults = [{ ...file, assertionResults: [passed, failed, skipped] }, broken]
  expect(listFailures({ ...report, testResults })).toEqual([
    'sum.test.ts > adds up: expected 3',
    'sum.test.ts > divides: skipped',
    'b.test.ts: no such module',
  ])
  expect(listFailures(undefined)).toEqual([])
})
