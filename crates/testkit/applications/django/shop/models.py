from django.db import models


class Category(models.Model):
    name = models.CharField(max_length=50)

    class Meta:
        verbose_name_plural = "categories"

    def __str__(self):
        return self.name


class Product(models.Model):
    name = models.CharField(max_length=100)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    available_from = models.DateField()
    in_stock = models.BooleanField(default=False)
    categories = models.ManyToManyField(Category)
    maker = models.ForeignKey("auth.User", on_delete=models.CASCADE)

    def __str__(self):
        return self.name
