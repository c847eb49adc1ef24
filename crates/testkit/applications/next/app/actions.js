"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { readGuests, writeGuests } from "./guests";

export async function addGuest(_, form) {
  const [name, seats] = [form.get("name"), Number(form.get("seats"))];
  if (seats > 4) return { error: "There are only four seats at a table." };
  await writeGuests([...(await readGuests()), { name, seats, meal: form.get("meal") }]);
  redirect("/");
}

export async function removeGuest(name) {
  const guests = await readGuests();
  await writeGuests(guests.filter((it) => it.name !== name));
  revalidatePath("/");
}
