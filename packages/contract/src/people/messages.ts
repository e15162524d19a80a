import { LIMITS } from '../limits.ts'

/** Messages under the fields about people, also for the console. */
export const PEOPLE_MESSAGES = {
  nameOfAProgram: 'The history names programs so. Choose another name.',
  nameTaken: 'Somebody has this name already. Choose another one.',
  shortPassword: `must have at least ${LIMITS.passwordLeast} characters`,
  noPassword: 'You have no password yet. Ask an administrator for a link that sets one.',
  limitedAdmin: 'An administrator cannot be limited. Choose another role, or the whole installation.',
  pick: 'Choose one from the list.',
  emptyReach: 'Choose at least one node or domain.',
  unknownNode: 'A chosen node does not exist any more. Choose again.',
  unknownDomain: 'A chosen domain does not exist any more. Choose again.',
} as const
