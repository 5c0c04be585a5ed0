// A pet, as both frameworks have it. Integers are numbers, as nearly everybody has them.

export const PET_STATUSES = ["available", "pending", "sold"] as const;
export type PetStatus = typeof PET_STATUSES[number];

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: PetStatus | undefined;
}

export interface Pet extends NewPet {
  readonly id: number;
  readonly status: PetStatus;
}
