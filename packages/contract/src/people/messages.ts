import { LIMITS } from '../limits.ts'

/** Messages under the fields about people, also for the console. */
export const PEOPLE_MESSAGES = {
  nameOfAProgram: 'The history names programs so. Choose another name.',
  mixedScripts: 'It has letters of two scripts. Write it in one.',
  nameTaken: 'Somebody has this name already. Choose another one.',
  shortPassword: `must have at least ${LIMITS.passwordLeast} characters`,
  noPassword: 'You have no password yet. Ask an administrator for a link that sets one.',
  lastWayIn: 'You could not sign in any more. Keep your providers or your passkeys.',
  limitedAdmin: 'An administrator cannot be limited. Choose another role, or the whole installation.',
  forAll: 'can only be changed by people who see the whole installation',
  portLimit: (most: number) =>
    `goes beyond this node's limit of ${most} ports. Ask an administrator to raise it in the node's form`,
  notGiven: 'must be one of the domains that were given to you',
  notGivenStays: 'must stay: this domain was not given to you',
  pick: 'Choose one from the list.',
  emptyReach: 'Choose at least one node or domain.',
  unknownNode: 'A chosen node does not exist any more. Choose again.',
  unknownDomain: 'A chosen domain does not exist any more. Choose again.',
} as const
